#include "lease/reap.h"

#include <map>
#include <utility>

#include "base/process.h"
#include "storage/query.h"

namespace leasehold::lease {
namespace {

constexpr Duration interval = std::chrono::milliseconds(500);
constexpr std::int64_t most_suspects = 1000;

/// Looks once at each process, whatever number of leases it has.
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

}  // namespace

bool is_gone(const Holder& holder) {
  const auto& space = process_space();
  if (space.empty() || holder.boot_id != space) return false;
  return look_for_process(holder.pid, holder.process_start) == Liveness::gone;
}

Result<Reaped> reap_lease(storage::Backend& backend, std::int64_t lease_id, std::int64_t pid,
                          std::int64_t process_start, BootTime deadline) {
  const sql::LeaseReap reap{
      .lease_id = lease_id, .boot_id = process_space(), .pid = pid, .process_start = process_start};
  auto ended = storage::query_one(backend, reap, deadline);
  if (!ended) return std::move(ended).error();
  if (ended->outcome != "reaped") return Reaped{};
  return Reaped{
      .leases = 1, .jobs = ended->jobs, .chunks = ended->chunks, .claims = ended->claims, .runs = ended->runs};
}

Reaped Reaper::reap(storage::Backend& backend, BootTime deadline) {
  const auto& space = process_space();
  if (space.empty()) return {};
  const sql::LeaseSuspects ask{.boot_id = space, .most = most_suspects};
  const auto suspects = storage::query(backend, ask, deadline);
  if (!suspects) return {};
  Reaped reaped;
  Processes processes;
  for (const auto& suspect : *suspects) {
    if (!processes.gone(suspect.pid, suspect.process_start)) continue;
    const auto ended = reap_lease(backend, suspect.lease_id, suspect.pid, suspect.process_start, deadline);
    if (!ended) break;
    reaped.leases += ended->leases;
    reaped.jobs += ended->jobs;
    reaped.chunks += ended->chunks;
    reaped.claims += ended->claims;
    reaped.runs += ended->runs;
  }
  return reaped;
}

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
