// Small text functions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "leasehold/result.h"

namespace leasehold {

/// The size in bytes of the well-formed UTF-8 character at the front; 0 if there is none. The text is not empty.
std::size_t character_length(std::string_view text);

/// Well-formed UTF-8, without overlong forms and surrogates.
bool is_utf8(std::string_view text);

/// For error messages: quoted, control characters and broken bytes escaped, cut after `most_bytes`.
std::string quoted(std::string_view text, std::size_t most_bytes = 60);

/// Turns any bytes into text that a store can keep: at most `most_bytes` of UTF-8, cut between characters; NUL and
/// broken bytes become U+FFFD.
std::string clean_text(std::string_view bytes, std::size_t most_bytes);

/// For messages: "1 MiB", "64 KiB", "512 bytes".
std::string format_size(std::size_t bytes);

/// True for the characters of a name in SQL.
bool is_in_word(char character);

/// Strips the blanks around the text.
std::string_view trimmed(std::string_view text);

// The error for an invalid argument.
inline Error invalid(std::string message) { return {.code = Errc::invalid_argument, .message = std::move(message)}; }

// "Did you mean ...?"

/// The closest candidate, at most a third of the word's letters away; empty if there is none.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace leasehold
