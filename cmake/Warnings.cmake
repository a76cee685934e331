# Warnings are errors, everywhere and for everyone.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast
  -Woverloaded-virtual -Werror)
# C++20 designated initializers leave out members with a default; that is their point.
add_compile_options(-Wno-missing-field-initializers)
# GCC 12 reports an overlap in std::string's own operator+ in optimized builds; there is none.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options($<$<CONFIG:Release>:-Wno-restrict>)
endif()

if(LEASEHOLD_SANITIZE)
  add_compile_options(-fsanitize=${LEASEHOLD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -g1)
  add_link_options(-fsanitize=${LEASEHOLD_SANITIZE})
  if(LEASEHOLD_SANITIZE MATCHES "thread")
    # libstdc++ uses fences that TSan cannot see, e.g. in atomic<shared_ptr>; we use none of them.
    add_compile_options(-Wno-tsan)
  endif()
endif()
