// Small questions about text.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "leasehold/result.h"

namespace leasehold {

/// How many bytes the well-formed character of UTF-8 at the front takes; 0 if there is none. The text is not empty.
std::size_t character_length(std::string_view text);

/// Well-formed UTF-8, without overlong forms and surrogates.
bool is_utf8(std::string_view text);

/// For error messages: quoted, control characters and broken bytes escaped, cut after 60 bytes.
std::string quoted(std::string_view text);

/// What a store can keep of any bytes: at most `most_bytes` of UTF-8, cut between characters; NUL and broken bytes
/// become U+FFFD.
std::string clean_text(std::string_view bytes, std::size_t most_bytes);

/// For messages: "1 MiB", "64 KiB", "512 bytes".
std::string format_size(std::size_t bytes);

/// A character of a name as SQL writes it.
bool is_in_word(char character);

/// Without the blanks around it.
std::string_view trimmed(std::string_view text);

// What every check says of an argument that cannot be meant.
inline Error invalid(std::string message) { return {.code = Errc::invalid_argument, .message = std::move(message)}; }

// "Did you mean ...?"

/// The candidate that is at most a third of the word's letters away; empty if none is.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace leasehold
