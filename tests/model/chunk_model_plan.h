// The model's plans, and reads of its chunks and sets.
#pragma once

#include "model/chunk_model.h"

namespace leasehold::chunk_model {

inline std::string ChunkModel::plan(const std::string& name, const std::string& planner, const Plan& plan) {
  Changed changed{.created = find(name) == nullptr};
  auto& set = sets_[name];
  set.planner = planner;
  ++set.plan_no;
  std::int64_t position = 0;
  for (const auto& [key, spec] : plan) {
    const auto place = position++;
    auto* known = find(name, key);
    if (known == nullptr) {
      set.chunks[key] = {.spec = spec, .planner = planner, .position = place, .plan_no = set.plan_no};
      ++changed.added;
      continue;
    }
    const bool outdated = known->planner != planner;
    const bool same = known->spec == spec;
    if (outdated) known->plan_no = set.plan_no;
    if (!same && !outdated) ++changed.differing;
    if (!same && outdated && known->under_way()) ++changed.left;
    if (same) ++changed.kept;
    if (!same && outdated && !known->under_way()) {
      known->begin_anew();
      known->forget_progress();
      known->synced_at.reset();
      known->ended_as.clear();
      known->holder.clear();
      known->spec = spec;
      ++changed.replaced;
    }
    if (outdated && known->spec == spec) {
      known->planner = planner;
      known->position = place;
    }
  }
  for (auto each = set.chunks.begin(); each != set.chunks.end();) {
    const auto& chunk = each->second;
    const bool forgotten = chunk.planner != planner && chunk.plan_no < set.plan_no;
    const bool removed = forgotten && !chunk.under_way();
    changed.left += forgotten && !removed ? 1 : 0;
    changed.removed += removed ? 1 : 0;
    each = removed ? set.chunks.erase(each) : std::next(each);
  }
  changed.total = static_cast<std::int64_t>(set.chunks.size());
  changed.state = state_of(set);
  return say(changed);
}

inline std::string ChunkModel::show(const std::string& set, const std::string& key) {
  const auto* found = find(set, key);
  if (found == nullptr) return "not_found";
  const auto& chunk = *found;
  Seen seen{.state = chunk.state(now_, leases_),
            .position = chunk.position,
            .planner = chunk.planner,
            .spec = chunk.spec,
            .token = chunk.token,
            .attempts = chunk.attempts,
            .failures = chunk.failures,
            .crashes = chunk.crashes,
            .started_at = chunk.started_at,
            .finished_at = chunk.finished_at,
            .synced_at = chunk.synced_at,
            .saved_at = chunk.saved_at,
            .cursor = chunk.cursor,
            .rows = chunk.rows,
            .holder = chunk.holder,
            .error = chunk.error,
            .note = chunk.note};
  if (chunk.due_at != 0) seen.due_at = chunk.due_at;
  if (chunk.held()) seen.expires_at = lease(chunk.lease).expires_at;
  return say(seen, now_);
}

inline std::string ChunkModel::progress(const std::string& name) {
  const auto* set = find(name);
  if (set == nullptr) return "not_found";
  SeenSet seen{.state = state_of(*set), .planner = set->planner};
  for (const auto& [key, chunk] : set->chunks) {
    const auto state = chunk.state(now_, leases_);
    ++seen.total;
    seen.available += state == "available" ? 1 : 0;
    seen.deferred += state == "deferred" ? 1 : 0;
    seen.running += state == "running" ? 1 : 0;
    seen.expired += state == "expired" ? 1 : 0;
    seen.completed += state == "completed" ? 1 : 0;
    seen.skipped += state == "skipped" ? 1 : 0;
    seen.exhausted += state == "exhausted" ? 1 : 0;
    seen.rows += chunk.rows;
    seen.attempts += chunk.attempts;
    if (chunk.finished_at)
      seen.finished_at = std::max(seen.finished_at.value_or(*chunk.finished_at), *chunk.finished_at);
    if (chunk.synced_at) seen.oldest_sync = std::min(seen.oldest_sync.value_or(*chunk.synced_at), *chunk.synced_at);
  }
  if (seen.completed + seen.skipped + seen.exhausted < seen.total) seen.finished_at.reset();
  return say(seen, now_);
}

}  // namespace leasehold::chunk_model
