// The caller behind a request: an API token in a header, or in the cookie of a browser that has logged in.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "leasehold/store.h"
#include "serve/http.h"

namespace leasehold::serve {

struct Caller {
  std::string name{};  ///< of its token: for the audit log, and for holders without a name
  Scope scope = Scope::read;
  std::vector<std::string> only{};  ///< patterns such as "queue:mail*"; empty: everything
  std::string owner{};              ///< whose Idempotency-Keys it uses
  std::int64_t token = 0;           ///< its id; 0: everyone may come in
  bool by_cookie = false;           ///< a browser: what it changes must come from our own page
};

struct CallersOptions {
  bool no_auth = false;
  std::string cookie = "leasehold";  ///< its name: the cookies of several servers on one host meet
};

/// Threading: from any thread.
class Callers {
 public:
  Callers(Store store, CallersOptions options) : store_(std::move(store)), options_(std::move(options)) {}

  /// `unauthorized` without a valid token. Asks the store at most once a second for the same token.
  Result<Caller> find(const Request& request);

  /// A secret that logs in once, within an hour; for a store without tokens. Nothing if it has some, or everyone may
  /// come in.
  Result<std::optional<std::string>> new_login();
  /// The token of a browser that logs in with new_login()'s secret.
  Result<std::string> log_in_once(std::string_view secret, Scope scope);

  /// Set-Cookie for a token; an empty one takes the cookie back. Strict: other sites cannot make a browser send it.
  [[nodiscard]] std::string cookie_for(const Request& request, std::string_view token, bool is_https) const;

 private:
  Result<Caller> caller_with(const std::string& secret);

  struct Known {
    Caller caller;
    BootTime until{};
  };

  const Store store_;
  const CallersOptions options_;
  std::mutex mutex_;
  std::map<std::string, Known, std::less<>> known_;
  std::string once_;
  BootTime once_until_{};
};

/// The holder of what an act grants: a name and the client's address. A process of this host must not stand in for it,
/// since its end would end every lease.
Holder holder_of(const Caller& caller, const Request& request);

}  // namespace leasehold::serve
