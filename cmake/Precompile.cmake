# Precompiles headers that nearly every file of a target includes.
#
#   leasehold_precompile(leasehold_cli <CLI/CLI.hpp> <leasehold/leasehold.h>)
#   leasehold_precompile(leasehold_core REUSE_FROM leasehold_base)     the same headers, read with the same flags
#
# Files still include what they use: nothing is precompiled with a compiler cache, which does not work with this, or in
# optimized builds, where GCC 12 warns about code of the precompiled standard library.
function(leasehold_precompile target)
  if(CMAKE_CXX_COMPILER_LAUNCHER OR NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    return()
  endif()
  if("${ARGV1}" STREQUAL "REUSE_FROM")
    target_precompile_headers(${target} ${ARGN})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# The most common headers of the library: below the statements the standard library, above them the statements, too.
function(leasehold_precompile_layer name)
  if(name STREQUAL base)
    leasehold_precompile(leasehold_base <algorithm> <chrono> <functional> <memory> <mutex> <optional> <span> <string>
      <thread> <variant> <vector> <fmt/format.h>)
  elseif(name STREQUAL lease)
    leasehold_precompile(leasehold_lease <algorithm> <functional> <memory> <mutex> <string> <thread> <fmt/format.h>
      <storage/query.h>)
  elseif(name MATCHES "^(model|core|storage|sqlite|postgres|run)$")
    leasehold_precompile(leasehold_${name} REUSE_FROM leasehold_base)
  elseif(NOT name STREQUAL cli)
    leasehold_precompile(leasehold_${name} REUSE_FROM leasehold_lease)
  endif()
endfunction()
