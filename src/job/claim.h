// Where in a queue to start looking: after the job that was claimed last.
//
// A PostgreSQL index keeps the entries of claimed rows for as long as an old snapshot might need them, and a claim from
// the head reads past them all. A handle that claims again and again starts behind them instead. Jobs that then arrive
// before that place (a higher priority, a released job) wait for the next look from the head: at most a second, and not
// at all if nothing is found behind the place, because then the store looks at the head by itself.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "lease/call.h"
#include "leasehold/job.h"
#include "leasehold/time.h"
#include "storage/statements.h"

namespace leasehold::job {

struct Position {
  std::int64_t priority = 0;
  std::int64_t job_id = 0;
};

/// Threading: from any thread.
class Positions {
 public:
  /// Occasional claims always see the whole queue: the place is used only after this many claims in a row.
  static constexpr int claims_in_a_row = 8;
  /// From the head at least this often; a pause of this length ends the row.
  static constexpr Duration head_interval = std::chrono::seconds(1);

  /// Nothing: start at the head.
  std::optional<Position> start(std::string_view queue, BootTime now);
  void granted(std::string_view queue, const Position& last, BootTime now);
  void refused(std::string_view queue);

 private:
  struct Place {
    Position last;
    int row = 0;
    BootTime claimed_at{};
    BootTime head_at{};
  };

  std::mutex mutex_;
  std::map<std::string, Place, std::less<>> places_;
};

// One attempt to claim jobs of a queue.

/// What a claim sends to the store.
struct Request {
  std::string queue;
  int max = 1;
  std::optional<Duration> ttl;
  std::optional<Duration> timeout;
  Holder holder;
  std::string request_id;
  std::optional<std::int64_t> attach;
};

/// A claim on its way: its request, and the conversion of its answer.
class PendingClaim {
 public:
  PendingClaim(const Request& request, Positions& positions);

  /// Call it just before sending: the holder trusts the lease from then on.
  [[nodiscard]] const sql::JobClaim& statement();
  /// Sends the claim, and repeats it only if the answer got lost or the store was busy. `first`: an answer that is
  /// there already.
  [[nodiscard]] Result<JobGrant> ask(lease::StoreCall call, std::optional<Result<sql::JobClaimed>> first = {});

 private:
  [[nodiscard]] Result<JobGrant> grant_from(Result<sql::JobClaimed> answer);

  const Request& request_;
  Positions& positions_;
  sql::JobClaim claim_;
  BootTime before_sending_;
};

/// `invalid_argument` if the options are not valid.
Result<Request> request_from(std::string_view queue, const JobClaimOptions& options, const Call& call);

}  // namespace leasehold::job
