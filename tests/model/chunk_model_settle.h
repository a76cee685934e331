// The model's heartbeats and verdicts: by the holder, late, twice, or by another caller; and what a reset does.
#pragma once

#include "model/chunk_model.h"

namespace leasehold::chunk_model {

/// Why this token is not current, and the last holder of the chunk.
inline std::string ChunkModel::lost(const ModelChunk& chunk, Moment token) {
  const bool ran_out = chunk.held() || chunk.ended_as == "expired" || chunk.ended_as == "returned";
  const std::string why = chunk.token != token ? "superseded" : ran_out ? "expired" : "finished";
  return "lost " + why + (chunk.holder.empty() ? "" : " to " + chunk.holder);
}

inline std::string ChunkModel::save(const std::string& set, const std::string& key, int ago, Moment ttl,
                                    const Save& save) {
  auto* chunk = find(set, key);
  if (chunk == nullptr) return "not_found";
  const auto token = token_of(set, key, ago);
  if (!chunk->held() || chunk->token != token || !lease(chunk->lease).live(now_)) return lost(*chunk, token);
  auto& held = lease(chunk->lease);
  if (ttl > 0) held.ttl = ttl;
  held.expires_at = now_ + held.ttl;
  chunk->save(save, now_);
  return "extended until " + away(held.expires_at, now_) + " rows " + std::to_string(chunk->rows);
}

inline std::string ChunkModel::settle(const std::string& name, const std::string& key, int ago,
                                      const Verdict& verdict) {
  auto* chunk = find(name, key);
  if (chunk == nullptr) return "not_found";
  auto& set = *find(name);
  const auto token = token_of(name, key, ago);
  if (chunk->token != token) return lost(*chunk, token);
  if (chunk->held()) return apply(set, *chunk, verdict);
  if (chunk->ended_as != verdict.end()) return lost(*chunk, token);
  const auto due_at = chunk->due_at > now_ ? std::optional(chunk->due_at) : std::nullopt;
  return say_settled(chunk->state(now_, leases_), due_at, state_of(set), true, now_);
}

inline std::string ChunkModel::apply(ModelSet& set, ModelChunk& chunk, const Verdict& verdict) {
  const int under = std::exchange(chunk.lease, no_lease);
  const bool failed = verdict.word == "fail";
  chunk.ended_as = verdict.end();
  chunk.save(verdict.save, now_);
  chunk.due_at = 0;
  if (verdict.word == "complete") {
    chunk.synced_at = now_;
    chunk.solo = false;
    chunk.error.clear();
  }
  if (failed) {
    const bool last = ++chunk.failures >= set.max_failures || !verdict.retryable;
    if (last) chunk.final = "exhausted";
    if (!last) {
      chunk.due_at = now_ + verdict.delay.value_or(std::min(backoff_base << (chunk.failures - 1), backoff_max));
    }
    chunk.error = "no luck";
  }
  if (verdict.word == "skip") chunk.note = "not needed";
  if (verdict.word == "complete" || verdict.word == "skip") chunk.final = verdict.end();
  chunk.finished_at = chunk.final.empty() ? std::nullopt : std::optional(now_);
  // A lease that a claim has opened ends with its last chunk.
  if (!lease(under).of_loader && held_by(under).empty()) lease(under).end_reason = "completed";
  const auto due_at = chunk.due_at > now_ ? std::optional(chunk.due_at) : std::nullopt;
  return say_settled(chunk.state(now_, leases_), due_at, state_of(set), false, now_);
}

inline std::string ChunkModel::reset(const std::string& name, const Reset& reset) {
  auto* set = find(name);
  if (set == nullptr) return "not_found";
  const auto named = [&](const std::string& key) {
    return std::find(reset.keys.begin(), reset.keys.end(), key) != reset.keys.end();
  };
  int count = 0;
  int running = 0;
  for (auto& [key, chunk] : set->chunks) {
    const bool meant = reset.which == "failed"  ? chunk.final == "exhausted"
                       : reset.which == "older" ? chunk.old(now_, reset.older_than)
                                                : reset.which == "all" || named(key);
    if (!meant) continue;
    running += chunk.held() ? 1 : 0;
    if (chunk.held()) continue;
    if (reset.from_start || chunk.final == "completed" || chunk.final == "skipped") chunk.forget_progress();
    chunk.begin_anew();
    ++count;
  }
  int missing = 0;
  for (const auto& key : reset.keys) missing += reset.which == "keys" && find(name, key) == nullptr ? 1 : 0;
  return say_reset(count, running, missing);
}

}  // namespace leasehold::chunk_model
