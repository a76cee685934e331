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
#include "observe/log.h"
#include "serve/http.h"

namespace leasehold::serve {

struct Caller {
  std::string name{};  ///< of its token: for the audit log, and for holders without a name
  Scope scope = Scope::read;
  std::vector<std::string> only{};  ///< patterns such as "queue:mail*"; empty: everything
  std::string owner{};              ///< the owner of its Idempotency-Keys
  std::int64_t token = 0;           ///< its id; 0: callers need no token
  bool by_cookie = false;           ///< a browser: only our own page may change something
};

struct CallersOptions {
  bool no_auth = false;
  observe::Log* log = nullptr;
  std::string cookie = "leasehold";  ///< its name: all servers on one host share the browser's cookies
};

/// Threading: from any thread.
class Callers {
 public:
  /// `quick` is the same store, with less patience.
  Callers(Store store, Store quick, CallersOptions options)
      : store_(std::move(store)), quick_(std::move(quick)), options_(std::move(options)) {}

  /// `unauthorized` without a valid token. Asks the store at most once a second for the same token. If the store does
  /// not answer, the error does not name it: the caller is a stranger.
  Result<Caller> find(const Request& request) { return find(request, Leniency::none); }
  /// For looks at this process, which must work while the store is away: then a token stays valid for some minutes
  /// after its last check.
  Result<Caller> find_leniently(const Request& request) { return find(request, Leniency::store_away); }

  /// A secret that logs in once, within an hour; for a store without tokens. Nothing if the store has tokens, or
  /// callers need none.
  Result<std::optional<std::string>> new_login();
  /// The token of a browser that logs in with new_login()'s secret. The audit log gets an entry.
  Result<std::string> log_in_once(const Request& request, std::string_view secret, Scope scope);

  /// Set-Cookie for a token; an empty one removes the cookie. Strict: other sites cannot make a browser send it.
  [[nodiscard]] std::string cookie_for(const Request& request, std::string_view token, bool is_https) const;

 private:
  enum class Leniency { none, store_away };
  Result<Caller> find(const Request& request, Leniency leniency);
  Result<Caller> caller_with(const std::string& secret, Leniency leniency);
  Result<Caller> caller_without_store(const std::string& secret, Leniency leniency, const Error& trouble);

  struct Known {
    Caller caller;
    BootTime until{};          ///< asks the store again from then on
    BootTime lenient_until{};  ///< valid until then if the store is away
  };

  const Store store_;
  const Store quick_;
  const CallersOptions options_;
  std::mutex mutex_;
  std::map<std::string, Known, std::less<>> known_;
  std::string once_;
  BootTime once_until_{};
};

/// The holder of the grants of an act: a name and the client's address. It names no process of this host: otherwise the
/// end of that process would end every lease.
Holder holder_of(const Caller& caller, const Request& request);

}  // namespace leasehold::serve
