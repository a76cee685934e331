// Small questions about text.
#pragma once

#include <string>
#include <string_view>

namespace leasehold {

/// Well-formed UTF-8, without overlong forms and surrogates.
bool is_utf8(std::string_view text);

/// For error messages: quoted, control characters and broken bytes escaped, cut after 60 bytes.
std::string quoted(std::string_view text);

/// What a store can keep of any bytes: at most `most_bytes` of UTF-8, cut between characters; NUL and broken bytes
/// become U+FFFD.
std::string clean_text(std::string_view bytes, std::size_t most_bytes);

/// A character of a name as SQL writes it.
bool is_in_word(char character);

/// Without the blanks around it.
std::string_view trimmed(std::string_view text);

}  // namespace leasehold
