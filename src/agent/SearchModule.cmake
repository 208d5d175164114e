# The agent's search: a module of its own like the files, so that it can be tested and measured
# without the agent. RE2 by its plain name: the archive where the agent is static.
cove_add_module(agent_search
  SOURCES search/search.cpp search/grep_search.cpp search/find_search.cpp search/newest.cpp
          search/line_search.cpp search/text_buffer.cpp
          search/pattern/byte_class.cpp search/pattern/byte_scan.cpp
          search/pattern/byte_scan_sse2.cpp search/pattern/byte_scan_avx2.cpp
          search/pattern/class_reader.cpp search/pattern/required.cpp
          search/pattern/required_part.cpp search/pattern/pattern.cpp
          search/pattern/pattern_error.cpp
          search/walk/glob.cpp search/walk/glob_parser.cpp search/walk/ignore_rules.cpp
          search/walk/directory.cpp search/walk/found.cpp search/walk/walk_order.cpp
  LINK cove_agent_files cove_wire cove_base Threads::Threads re2)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64|AMD64")
  set_source_files_properties(search/pattern/byte_scan_avx2.cpp PROPERTIES COMPILE_OPTIONS "-mavx2;-mpopcnt;-mbmi")
endif()
