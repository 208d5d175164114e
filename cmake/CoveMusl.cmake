# Small static programs start fastest with musl: glibc's own start asks the processor some fifty times
# what it is, and a virtual machine answers each time slowly (half a millisecond on some).

string(REPLACE -gnu -musl COVE_MUSL_SPECS "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/musl-gcc.specs")

# cove_link_with_musl(TARGET): a program in C++ that needs neither exceptions nor libstdc++. Where
# there is no musl, or the compiler is another one than GCC, it stays with glibc.
function(cove_link_with_musl target)
  if(COVE_SANITIZE OR NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU OR NOT EXISTS ${COVE_MUSL_SPECS})
    message(STATUS "${target} is linked with glibc")
    return()
  endif()
  set(headers "")
  foreach(directory IN LISTS CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    # libstdc++'s first; the kernel's, which lie beside glibc's, when musl has none of that name.
    if(directory MATCHES "/c\\+\\+/")
      list(APPEND headers "SHELL:-isystem ${directory}")
    else()
      list(APPEND headers "SHELL:-idirafter ${directory}")
    endif()
  endforeach()
  # libstdc++'s configuration asks which glibc there is.
  target_compile_options(${target} PRIVATE -specs=${COVE_MUSL_SPECS} ${headers}
                         "-D__GLIBC_PREREQ(major,minor)=0" -fno-threadsafe-statics)
  # CMake names libstdc++, of which nothing is taken. Beside lld the specs do not find it, and name an
  # interpreter also for a static program.
  list(GET CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES 0 of_compiler)
  target_link_options(${target} PRIVATE -specs=${COVE_MUSL_SPECS} -L${of_compiler}
                      -Wl,--no-dynamic-linker)
endfunction()
