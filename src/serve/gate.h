// Decides which requests the server accepts: by its names, its own origin, and the addresses of clients behind proxies.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "serve/http.h"

namespace leasehold::serve {

struct GateOptions {
  std::vector<std::string> hosts{};    ///< further names of this server, such as that of a proxy
  std::vector<std::string> proxies{};  ///< addresses whose X-Forwarded-For we trust; "unix" for Unix sockets
};

/// Threading: from any thread.
class Gate {
 public:
  explicit Gate(const GateOptions& options);

  /// Refuses a request under a foreign name (a page could rebind its own name to our address), and a request from a
  /// page of another origin. Browsers send these headers truthfully.
  [[nodiscard]] std::optional<Response> refusal_of(const Request& request) const;

  /// Whether a browser says that a page of this server sent the request.
  static bool is_same_origin(const Request& request);

  /// Takes the address of the client, and whether its side is encrypted, from a trusted proxy.
  void look_behind_proxy(Request& request) const;

 private:
  [[nodiscard]] bool is_own(std::string_view origin, const Request& request) const;
  [[nodiscard]] bool trusts(const Request& request) const;

  std::set<std::string, std::less<>> hosts_;
  std::set<std::string, std::less<>> proxies_;
};

}  // namespace leasehold::serve
