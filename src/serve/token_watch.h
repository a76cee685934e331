// Whether the API tokens behind streams and waits are still valid: a request is checked when it comes, but these go on.
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

  /// Stops once check() has seen that the token was revoked or has expired. The token is watched for as long as the
  /// answer is kept. 0: the caller needs no token.
  std::shared_ptr<std::stop_source> watch(std::int64_t token_id);
  /// Whether no token is watched.
  [[nodiscard]] bool idle();
  /// A store that does not answer ends nothing.
  Result<void> check();

 private:
  void forget_unwatched();

  const Store store_;
  std::mutex mutex_;
  std::map<std::int64_t, std::weak_ptr<std::stop_source>> watched_;
};

}  // namespace leasehold::serve
