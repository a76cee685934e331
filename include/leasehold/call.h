// How a call is made, apart from what it asks for.
//
//   auto grant = jobs.claim("mail", {.max = 10, .wait = 1min}, {.holder = Holder::self("mailer"), .stop = stop});
//
// Options are data: they could come from a file or over the network. A Call is the caller's own: who asks, what ends
// the waiting, how much time the store gets, under which lease.
#pragma once

#include <optional>
#include <stop_token>

#include "leasehold/lease.h"
#include "leasehold/time.h"

namespace leasehold {

struct Call {
  /// Who asks, as others see it. Unset: Holder::self().
  std::optional<Holder> holder{};
  /// Ends the waiting at once, with the latest refusal.
  std::stop_token stop{};
  /// How long one request to the store may take, reconnecting and waiting for row locks included.
  /// Unset: OpenOptions::call_timeout.
  std::optional<Duration> timeout{};
  /// For claims of jobs and chunks: hold them under this lease instead of one of their own. The claim's ttl and
  /// request id do not count then. After `in_doubt` the lease may hold work that the caller was never told of: claim
  /// no more under it, and close it when the rest is settled. Other calls refuse it.
  std::optional<SharedLease> lease{};
};

}  // namespace leasehold
