# hp_flame_page: the page of `heapprof flame`, embedded. What npm installs for it stays in the build folder;
# without npm, or without a registry to reach, the build goes on and the page is empty (flame_page.h).

find_program(NPM npm)
find_program(NODE NAMES node nodejs)
set(flame_source ${CMAKE_CURRENT_SOURCE_DIR}/flame/page)
set(flame_output ${CMAKE_CURRENT_BINARY_DIR}/flame)
set(flame_page ${flame_output}/page.head ${flame_output}/page.tail ${flame_output}/page.missing)

# A build that had to do without tries again after each run of cmake.
if(EXISTS ${flame_output}/page.missing)
  file(SIZE ${flame_output}/page.missing missing_size)
  if(missing_size GREATER 0)
    file(REMOVE ${flame_page})
  endif()
endif()

file(GLOB flame_parts CONFIGURE_DEPENDS ${flame_source}/*)
add_custom_command(OUTPUT ${flame_page}
  COMMAND ${CMAKE_COMMAND} -DNPM=${NPM} -DNODE=${NODE} -DSOURCE=${flame_source} -DOUTPUT=${flame_output}
          -P ${flame_source}/make_page.cmake
  DEPENDS ${flame_parts} COMMENT "The page of heapprof flame" VERBATIM)

# hp_flame_page_library(NAME FOLDER): the page in FOLDER.
function(hp_flame_page_library name folder)
  add_library(${name} STATIC ${PROJECT_SOURCE_DIR}/tools/flame/flame_page.c)
  target_link_libraries(${name} PRIVATE hp_warnings)
  target_compile_definitions(${name} PRIVATE HP_FLAME_PAGE="${folder}")
endfunction()

hp_flame_page_library(hp_flame_page ${flame_output})
add_custom_target(flame_page_files DEPENDS ${flame_page})
add_dependencies(hp_flame_page flame_page_files)
set_source_files_properties(flame/flame_page.c PROPERTIES OBJECT_DEPENDS "${flame_page}")
