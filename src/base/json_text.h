// Texts and bytes in JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace leasehold {

/// A JSON string in quotes; bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view bytes);
void append_json_string(std::string& out, std::string_view bytes);

/// JSON from users. It may contain numbers that a parser would change, so it is passed on unparsed, on one line.
std::string json_line(std::string_view kept);
/// The same for what is known to be JSON.
void append_on_one_line(std::string& out, std::string_view json);

// Base64, for bytes that are not text.
std::string to_base64(std::string_view bytes);

/// The standard alphabet, with padding. Nothing if the text is not base64.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace leasehold
