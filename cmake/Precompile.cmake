# Headers that nearly every file of a target includes are read once.
#
#   leasehold_precompile(leasehold_cli <CLI/CLI.hpp> <leasehold/leasehold.h>)
#   leasehold_precompile(leasehold_core REUSE_FROM leasehold_base)     the same headers, read with the same flags
#
# Files still name what they use: with a compiler cache, which does not go together with this, nothing is precompiled. Nor
# where anything is optimized: GCC 12 warns of what it makes of the standard library, once that comes precompiled.
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

# What nearly every file of the library includes: below the statements the standard library, above them those, too.
function(leasehold_precompile_layer name)
  if(name STREQUAL base)
    leasehold_precompile(leasehold_base <algorithm> <chrono> <functional> <memory> <mutex> <optional> <span> <string>
      <thread> <variant> <vector> <fmt/format.h>)
  elseif(name STREQUAL lease)
    leasehold_precompile(leasehold_lease <algorithm> <functional> <memory> <mutex> <string> <thread> <fmt/format.h>
      <storage/query.h>)
  elseif(name MATCHES "^(model|core|storage|sqlite|postgres|run)$")
    leasehold_precompile(leasehold_${name} REUSE_FROM leasehold_base)
  elseif(NOT name MATCHES "^(cli|wire)$")
    leasehold_precompile(leasehold_${name} REUSE_FROM leasehold_lease)
  endif()
endfunction()
