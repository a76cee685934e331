# Headers that nearly every file of a target includes are read once.
#
#   leasehold_precompile(leasehold_cli <CLI/CLI.hpp> <leasehold/leasehold.h>)
#
# Files still name what they use: with a compiler cache, which does not go together with this, nothing is precompiled.
function(leasehold_precompile target)
  if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()
