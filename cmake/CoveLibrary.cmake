# cove::cove, libcove.a: the objects of the runtime and of all that it uses, for C++ programs.

# cove_collect(root modules libraries): the object libraries that `root` is made of (itself among
# them), and the third-party libraries that those link.
function(cove_collect root out_modules out_libraries)
  set(pending ${root})
  set(modules "")
  set(libraries "")
  while(pending)
    list(POP_FRONT pending item)
    if(item IN_LIST modules)
      continue()
    endif()
    list(APPEND modules ${item})
    get_target_property(links ${item} INTERFACE_LINK_LIBRARIES)
    foreach(link IN LISTS links)
      set(type "")
      if(TARGET ${link})
        get_target_property(type ${link} TYPE)
      endif()
      if(type STREQUAL OBJECT_LIBRARY)
        list(APPEND pending ${link})
      elseif(TARGET ${link})
        list(APPEND libraries ${link})
      endif()
    endforeach()
  endwhile()
  list(REMOVE_DUPLICATES libraries)
  # Headers only: compiled in, and nothing that a program must have.
  list(REMOVE_ITEM libraries Boost::headers nlohmann_json::nlohmann_json)
  set(${out_modules} ${modules} PARENT_SCOPE)
  set(${out_libraries} ${libraries} PARENT_SCOPE)
endfunction()

cove_collect(cove_runtime modules libraries)
set(COVE_LINKED_LIBRARIES ${libraries} CACHE INTERNAL "What a program that links libcove.a needs")

add_library(cove STATIC)
add_library(cove::cove ALIAS cove)
foreach(module IN LISTS modules)
  target_sources(cove PRIVATE $<TARGET_OBJECTS:${module}>)
endforeach()
target_include_directories(cove PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(cove PUBLIC cxx_std_20)
target_link_libraries(cove PRIVATE ${libraries})
set_target_properties(cove PROPERTIES LINKER_LANGUAGE CXX)
