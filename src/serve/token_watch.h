// Checks whether the API tokens of streams and waits are still valid: other requests are checked only when they come.
//
//   auto watched = tokens.watch(caller.token);
//   std::stop_callback ended(watched->get_token(), [&] { stop.request_stop(); });
//   tokens.check();                                   // again and again: one look at the store for all of them
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>

#include "leasehold/store.h"

namespace leasehold::serve {

/// Threading: from any thread.
class TokenWatch {
 public:
  explicit TokenWatch(Store store) : store_(std::move(store)) {}

  /// The answer stops once check() has seen that the token was revoked or has expired. This watches the token for as
  /// long as the caller keeps the answer. 0: the caller needs no token.
  std::shared_ptr<std::stop_source> watch(std::int64_t token_id);
  /// Whether no token is watched.
  [[nodiscard]] bool idle();
  /// If the store does not answer, nothing ends.
  Result<void> check();

 private:
  void forget_unwatched();

  const Store store_;
  std::mutex mutex_;
  std::map<std::int64_t, std::weak_ptr<std::stop_source>> watched_;
};

}  // namespace leasehold::serve
