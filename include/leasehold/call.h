// How to make a call, apart from what it requests.
//
//   auto grant = jobs.claim("mail", {.max = 10, .wait = 1min}, {.holder = Holder::self("mailer"), .stop = stop});
//
// Options are data: they could come from a file or over the network. A Call belongs to the caller: its holder, what
// ends its wait, how long the store may take, and the lease to claim under.
#pragma once

#include <optional>
#include <stop_token>

#include "leasehold/lease.h"
#include "leasehold/time.h"

namespace leasehold {

struct Call {
  /// The holder, as other processes see it. Unset: Holder::self().
  std::optional<Holder> holder{};
  /// Ends the wait at once; the call then returns the latest refusal.
  std::stop_token stop{};
  /// How long one request to the store may take, including reconnecting and waiting for row locks.
  /// Unset: OpenOptions::call_timeout.
  std::optional<Duration> timeout{};
  /// For claims of jobs and chunks: hold them under this lease instead of a new one. The ttl and the request id of the
  /// claim are then ignored. After `in_doubt` the lease may hold work that the caller never received: claim no more
  /// under it, and close it when the rest is settled. Other calls refuse it.
  std::optional<SharedLease> lease{};
};

}  // namespace leasehold
