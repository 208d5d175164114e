# Writes an assembler file that holds two programs: cmake -DAGENT=... -DLAUNCHER=... -DOUTPUT=... -P
file(SHA256 ${AGENT} agent_hash)
file(SHA256 ${LAUNCHER} launcher_hash)

set(text "/* Made by embed_programs.cmake. */\n.section .rodata\n")
foreach(program IN ITEMS agent launcher)
  string(TOUPPER ${program} path)
  string(APPEND text
    ".balign 16\n"
    ".global cove_${program}_begin\n.hidden cove_${program}_begin\ncove_${program}_begin:\n"
    ".incbin \"${${path}}\"\n"
    ".global cove_${program}_end\n.hidden cove_${program}_end\ncove_${program}_end:\n.byte 0\n"
    ".global cove_${program}_sha256\n.hidden cove_${program}_sha256\ncove_${program}_sha256:\n"
    ".asciz \"${${program}_hash}\"\n")
endforeach()
string(APPEND text ".section .note.GNU-stack,\"\",%progbits\n")
file(WRITE ${OUTPUT} "${text}")
