# One target per layer. A layer is a folder below src: its .cc files, those of its subfolders included, unless a subfolder is
# a layer of its own.
#
#   leasehold_layer(core DEPENDS base model KNOWS "rules without a database")
#
# declares the object library leasehold_core from src/core. DEPENDS names the layers that this one uses directly.
# check_layers.cmake compares every #include with it, and the table in ARCHITECTURE.md with KNOWS.

set(layer_table ${CMAKE_BINARY_DIR}/layers.txt)

function(leasehold_layer name)
  cmake_parse_arguments(LAYER "" "FOLDER;KNOWS" "DEPENDS;GENERATED;LIBRARIES" ${ARGN})
  if(NOT LAYER_FOLDER)
    set(LAYER_FOLDER ${name})
  endif()
  leasehold_layer_sources(${LAYER_FOLDER} sources)
  add_library(leasehold_${name} OBJECT ${sources} ${LAYER_GENERATED})
  target_include_directories(leasehold_${name} PUBLIC
    ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/generated)
  foreach(dependency ${LAYER_DEPENDS})
    target_link_libraries(leasehold_${name} PUBLIC leasehold_${dependency})
  endforeach()
  target_link_libraries(leasehold_${name} PUBLIC ${LAYER_LIBRARIES})
  add_dependencies(leasehold_${name} check_layers)
  leasehold_precompile_layer(${name})
  string(REPLACE ";" "," dependencies "${LAYER_DEPENDS}")
  set_property(GLOBAL APPEND PROPERTY LEASEHOLD_LAYERS "${name}|${LAYER_FOLDER}|${dependencies}|${LAYER_KNOWS}")
endfunction()

function(leasehold_layer_sources folder out)
  set(root ${CMAKE_SOURCE_DIR}/src/${folder})
  if(folder STREQUAL storage)
    file(GLOB sources CONFIGURE_DEPENDS ${root}/*.cc)
  else()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${root}/*.cc)
  endif()
  # A main.cc belongs to its program.
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

add_custom_target(check_layers
  COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${CMAKE_SOURCE_DIR} -DTABLE=${layer_table}
          -P ${CMAKE_SOURCE_DIR}/cmake/check_layers.cmake
  COMMENT "Checking that every include follows the layers")

function(leasehold_write_layer_table)
  get_property(layers GLOBAL PROPERTY LEASEHOLD_LAYERS)
  list(JOIN layers "\n" text)
  file(WRITE ${layer_table} "${text}\n")
endfunction()
