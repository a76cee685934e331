// Bytes that are no text, in JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace leasehold::wire {

std::string to_base64(std::string_view bytes);

/// The usual alphabet, with padding. Nothing for what is not base64.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace leasehold::wire
