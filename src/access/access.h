// The state of Access, and the secrets of API tokens.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "lease/call.h"
#include "leasehold/access.h"

namespace leasehold {

struct Access::Impl : lease::StoreAccess {};

namespace access {

inline constexpr std::string_view secret_prefix = "lht_";
inline constexpr std::size_t secret_letters = 43;

/// The prefix, and random letters and digits: 256 bits.
std::string new_secret();

/// Whether the text can be a secret at all; other texts need no question to the store.
bool is_secret(std::string_view text);

/// `invalid_argument`, with the pattern in the message, unless it is "*" or "KIND:NAME".
Result<void> check_pattern(std::string_view pattern);

/// One error for every text that is not the secret of an active token, so that a caller cannot learn which it was.
inline Error not_authorized() {
  return {.code = Errc::unauthorized, .message = "the API token is unknown, expired or revoked"};
}

/// An empty text in a filter matches everything.
inline std::optional<std::string_view> if_any(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}

/// For lists in the order of their ids: the next page begins behind the last row of this one.
inline constexpr auto behind_last_id = [](const auto& shown) { return std::to_string(shown.back().id); };

}  // namespace access
}  // namespace leasehold
