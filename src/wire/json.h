// Texts and bytes in JSON. Only wire's own .cc files see this.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace leasehold::wire {

/// As JSON writes it: in quotes, with U+FFFD in place of what is not UTF-8.
std::string quoted_text(std::string_view bytes);

/// JSON that users gave. It may say numbers that no other reader keeps as they are, so it is not read but passed on, on
/// one line.
std::string as_it_is(std::string_view kept);

// Bytes that are no text, in JSON.
std::string to_base64(std::string_view bytes);

/// The usual alphabet, with padding. Nothing for what is not base64.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace leasehold::wire
