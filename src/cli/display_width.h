// How wide text is on a terminal: a CJK character or an emoji takes two columns, a combining mark takes none.
#pragma once

#include <cstddef>
#include <string_view>

namespace leasehold::cli {

struct DisplayedCharacter {
  std::size_t bytes = 1;
  std::size_t columns = 1;
};

/// The first character of a text that is not empty, as the terminal counts it. What is not UTF-8 counts byte by byte.
DisplayedCharacter first_character(std::string_view text);

}  // namespace leasehold::cli
