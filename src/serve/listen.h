// The addresses at which the server listens, and which of them only this machine can reach.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "leasehold/result.h"

namespace leasehold::serve {

struct ListenAddress {
  std::string host{};      ///< "127.0.0.1", "::1"
  std::uint16_t port = 0;  ///< 0: any free one
  std::string path{};      ///< of a Unix socket; then there is no host

  [[nodiscard]] bool is_unix() const { return !path.empty(); }
  /// Whether only programs of this machine can reach it.
  [[nodiscard]] bool is_local() const;
  /// "127.0.0.1:7420", "[::1]:7420", "unix:/run/leasehold/http"
  [[nodiscard]] std::string text() const;
};

/// "127.0.0.1:7420", "[::1]:7420", "localhost:7420", "unix:PATH"; `invalid_argument` for other texts.
Result<ListenAddress> listen_address_from(std::string_view text);

/// An IPv4 or IPv6 address without a port, in its usual spelling; empty if the text is none. An IPv4 address that is
/// written as IPv6 becomes IPv4.
std::string address_from(std::string_view text);

bool is_loopback(std::string_view address);

/// The host of a `Host` or an authority, in lower case, without its port; an IPv6 address without its brackets. Empty
/// if the text is neither.
std::string host_of(std::string_view authority);

/// A listening Unix socket, with the mode 0660. Replaces a socket file that a dead server left; `unavailable` if a
/// server listens there, or the path is something else. Returns the descriptor.
Result<int> listen_on_unix_socket(const std::string& path);

}  // namespace leasehold::serve
