# One target per layer, and an include that goes up is a build error.
#
#   leasehold_layer(core FOLDER core DEPENDS base SOURCES url.cc ...)
#
# declares the object library leasehold_core from src/core. The table of all layers is written to
# layers.txt in the build folder, and check_layers.cmake holds every #include against it.

function(leasehold_layer name)
  cmake_parse_arguments(LAYER "" "FOLDER" "DEPENDS;SOURCES;LIBRARIES" ${ARGN})
  set(sources)
  foreach(source ${LAYER_SOURCES})
    if(IS_ABSOLUTE ${source})
      list(APPEND sources ${source})
    else()
      list(APPEND sources ${CMAKE_SOURCE_DIR}/src/${LAYER_FOLDER}/${source})
    endif()
  endforeach()
  add_library(leasehold_${name} OBJECT ${sources})
  target_include_directories(leasehold_${name} PUBLIC
    ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/generated)
  foreach(dependency ${LAYER_DEPENDS})
    target_link_libraries(leasehold_${name} PUBLIC leasehold_${dependency})
  endforeach()
  target_link_libraries(leasehold_${name} PUBLIC ${LAYER_LIBRARIES})
  add_dependencies(leasehold_${name} check_layers)
  leasehold_precompile_layer(${name})
  string(REPLACE ";" "," dependencies "${LAYER_DEPENDS}")
  set_property(GLOBAL APPEND PROPERTY LEASEHOLD_LAYERS "${name}:${LAYER_FOLDER}:${dependencies}")
endfunction()

add_custom_target(check_layers
  COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${CMAKE_SOURCE_DIR} -DTABLE=${CMAKE_BINARY_DIR}/layers.txt
          -P ${CMAKE_SOURCE_DIR}/cmake/check_layers.cmake
  COMMENT "Checking that no include goes up")

function(leasehold_write_layer_table)
  get_property(layers GLOBAL PROPERTY LEASEHOLD_LAYERS)
  list(JOIN layers "\n" text)
  file(WRITE ${CMAKE_BINARY_DIR}/layers.txt "${text}\n")
endfunction()
