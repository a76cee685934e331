// Texts and bytes in JSON. Only wire's own .cc files see this.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace leasehold::wire {

/// A JSON string in quotes; bytes that are not UTF-8 become U+FFFD.
std::string quoted_text(std::string_view bytes);

/// JSON from users. It may contain numbers that a parser would change, so it is passed on unparsed, on one line.
std::string as_it_is(std::string_view kept);

// Base64, for bytes that are not text.
std::string to_base64(std::string_view bytes);

/// The standard alphabet, with padding. Nothing if the text is not base64.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace leasehold::wire
