# How everything is compiled: C++20, position independent, hardened; strict in developer mode.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 99)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

# Given to every target of ours as `cove_build_options`; never exported to consumers.
add_library(cove_build_options INTERFACE)
target_compile_options(cove_build_options INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-fstack-protector-strong>
  $<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<NOT:$<CONFIG:Debug>>,$<NOT:$<BOOL:${COVE_SANITIZE}>>>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>)
target_link_options(cove_build_options INTERFACE -Wl,-z,relro,-z,now)

if(COVE_DEVELOPER_MODE)
  target_compile_options(cove_build_options INTERFACE
    $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Wno-missing-field-initializers>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # Where it optimises, GCC 12 sees overlapping copies in its own std::string (its bug 105651) and
    # members of an empty std::optional that are not read. Clang and the sanitizers look for real ones.
    target_compile_options(cove_build_options INTERFACE
      "$<$<AND:$<NOT:$<CONFIG:Debug>>,$<COMPILE_LANGUAGE:CXX>>:-Wno-restrict;-Wno-maybe-uninitialized>")
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    target_compile_options(cove_build_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wthread-safety>)
  endif()
endif()

if(COVE_FUZZ)
  # Everything that a fuzzer drives: one that sees only its own file's branches searches blindly.
  target_compile_options(cove_build_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

if(COVE_SANITIZE)
  list(JOIN COVE_SANITIZE "," sanitizers)
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${sanitizers}>
                      $<$<COMPILE_LANGUAGE:C,CXX>:-fno-sanitize-recover=all>
                      $<$<COMPILE_LANGUAGE:C,CXX>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=${sanitizers})
endif()

# A test binary holds all of Cove: GNU ld takes longer for one than GCC for most sources. What is
# installed is linked by the system's own linker.
if(COVE_DEVELOPER_MODE AND CMAKE_BUILD_TYPE STREQUAL Debug)
  find_program(COVE_LLD ld.lld PATHS /usr/lib/llvm-19/bin NO_DEFAULT_PATH)
  if(COVE_LLD)
    cmake_path(GET COVE_LLD PARENT_PATH COVE_LLD_DIRECTORY)
    string(APPEND CMAKE_EXE_LINKER_FLAGS " -B${COVE_LLD_DIRECTORY} -fuse-ld=lld")
  endif()
endif()
