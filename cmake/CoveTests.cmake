# cove_discover_tests(target kind): every Catch2 case of `target` becomes a test "kind: name", labelled
# with the kind and its tags (discover_tests.py says which).
function(cove_discover_tests target kind)
  set(tests_file ${CMAKE_CURRENT_BINARY_DIR}/${target}_tests.cmake)
  set(include_file ${CMAKE_CURRENT_BINARY_DIR}/${target}_include.cmake)
  add_custom_command(TARGET ${target} POST_BUILD BYPRODUCTS ${tests_file}
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/cmake/discover_tests.py
            $<TARGET_FILE:${target}> "${kind}: " ${kind} ${tests_file}
    VERBATIM)
  file(WRITE ${include_file}
    "if(EXISTS \"${tests_file}\")\n  include(\"${tests_file}\")\nelse()\n"
    "  add_test(${target}_NOT_BUILT ${target}_NOT_BUILT)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${include_file})
endfunction()
