// One try at a queue's jobs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "leasehold/queue.h"
#include "queue/positions.h"
#include "storage/backend.h"
#include "storage/statements.h"

namespace leasehold::queue {

/// All that the store needs to know of somebody who wants jobs.
struct Wish {
  std::string queue;
  int most = 1;
  std::optional<Duration> ttl;
  Holder holder;
  std::string request_id;
  std::optional<std::int64_t> attach;
};

/// A claim on its way: what is asked, and what is made of the answer.
class Asking {
 public:
  Asking(const Wish& wish, Positions& positions);

  /// To be taken just before it is sent: the holder trusts the lease from then on.
  [[nodiscard]] const sql::JobClaim& statement();
  /// Asks, and repeats only where the answer got lost on the way, or the store was busy. `first`: was asked already.
  [[nodiscard]] Result<JobGrant> ask(storage::Backend& backend, BootTime deadline,
                                     std::optional<Result<sql::JobClaimed>> first = {});

 private:
  [[nodiscard]] Result<JobGrant> grant_from(Result<sql::JobClaimed> lot);

  const Wish& wish_;
  Positions& positions_;
  sql::JobClaim claim_;
  BootTime before_sending_;
};

/// `invalid_argument` where it cannot be asked for.
Result<Wish> wish_from(std::string_view queue, const ClaimOptions& options);

/// Refused, and waiting can change that.
inline bool may_change(const Error& refusal) {
  switch (refusal.code) {
    case Errc::empty:
    case Errc::at_capacity:
    case Errc::paused:
    case Errc::rate_limited:
    case Errc::busy: return true;
    default: return false;
  }
}

}  // namespace leasehold::queue
