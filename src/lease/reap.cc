#include "lease/reap.h"

#include <map>
#include <utility>

#include "base/process.h"
#include "storage/query.h"

namespace leasehold::lease {
namespace {

constexpr Duration interval = std::chrono::milliseconds(500);
constexpr std::int64_t most_suspects = 1000;

/// Looks at each process once, however many leases it has.
class Processes {
 public:
  bool gone(std::int64_t pid, std::int64_t process_start) {
    const auto [found, added] = seen_.try_emplace({pid, process_start}, Liveness::cannot_tell);
    if (added) found->second = look_for_process(pid, process_start);
    return found->second == Liveness::gone;
  }

 private:
  std::map<std::pair<std::int64_t, std::int64_t>, Liveness> seen_;
};

Reaped reap_suspects(storage::Backend& backend, sql::LeaseSuspects ask, BootTime deadline) {
  const auto& space = process_space();
  const auto& boot_id = own_boot_id();
  if (boot_id.empty()) return {};
  ask.boot_id = boot_id;
  ask.max = most_suspects;
  const auto suspects = storage::query(backend, ask, deadline);
  if (!suspects) return {};
  Reaped reaped;
  Processes processes;
  for (const auto& suspect : *suspects) {
    if (!processes.gone(suspect.pid, suspect.process_start)) continue;
    const sql::LeaseReap reap{.lease_id = suspect.lease_id,
                              .boot_id = boot_id,
                              .process_space = space,
                              .pid = suspect.pid,
                              .process_start = suspect.process_start};
    const auto ended = storage::query_one(backend, reap, deadline);
    if (!ended) break;
    if (!ended->outcome.done()) continue;
    ++reaped.leases;
    reaped.jobs += ended->jobs;
    reaped.chunks += ended->chunks;
    reaped.claims += ended->claims;
    reaped.runs += ended->runs;
  }
  return reaped;
}

}  // namespace

bool is_gone(const Holder& holder) {
  if (holder.boot_id.empty() || holder.boot_id != own_boot_id()) return false;
  return look_for_process(holder.pid, holder.process_start) == Liveness::gone;
}

Reaped reap_process(storage::Backend& backend, std::int64_t pid, std::int64_t process_start, BootTime deadline) {
  return reap_suspects(backend, {.pid = pid, .process_start = process_start}, deadline);
}

Reaped Reaper::reap(storage::Backend& backend, BootTime deadline) { return reap_suspects(backend, {}, deadline); }

Reaped Reaper::reap_now_and_then(storage::Backend& backend, BootTime deadline) {
  {
    const std::lock_guard lock(mutex_);
    const auto now = BootClock::now();
    if (now < next_) return {};
    next_ = now + interval;
  }
  return reap(backend, deadline);
}

}  // namespace leasehold::lease
