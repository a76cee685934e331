// The model's claim: repeat, what the dead have left, by key, the next ones, what is old, and why there is nothing.
#pragma once

#include "model/chunk_model.h"

namespace leasehold::chunk_model {

inline std::string ChunkModel::claim(const Ask& ask) {
  if (ask.lease) {
    const auto& attached = lease(loaders_[index(*ask.lease)]);
    if (!attached.live(now_)) return "lost " + attached.loss();
  } else if (!ask.request.empty()) {
    for (int id = 0; id < static_cast<int>(leases_.size()); ++id) {
      if (lease(id).request == ask.request) return replay(id, ask.holder);
    }
  }
  auto* set = find(ask.set);
  if (set == nullptr) return "not_found";
  Taken taken;
  for (const int id : dead(ask.set)) take_over(id, taken);
  if (!ask.key.empty()) {
    const auto* chunk = find(ask.set, ask.key);
    if (chunk == nullptr) return "not_found";
    const auto refusal = refusal_of(*chunk, ask.older_than);
    return refusal.empty() ? grant(ask, *set, {ask.key}) : refusal;
  }
  auto chosen = choose_next(*set, ask.max);
  if (chosen.empty()) chosen = choose_old(*set, ask);
  return chosen.empty() ? nothing(*set) : grant(ask, *set, chosen);
}

/// The first answer again, with what remains of the lease and of its chunks.
inline std::string ChunkModel::replay(int id, const std::string& holder) {
  const auto& first = lease(id);
  if (!first.live(now_)) return "lost " + first.loss();
  Granted answer{.holder = holder, .ttl = first.ttl, .expires_at = first.expires_at, .replayed = true};
  std::vector<std::pair<std::int64_t, Given>> held;
  for (const auto& [name, set] : sets_) {
    for (const auto& [key, chunk] : set.chunks) {
      if (chunk.lease != id) continue;
      answer.solo = answer.solo || chunk.solo;
      held.emplace_back(chunk.position, Given{.key = key,
                                              .token = chunk.token,
                                              .attempt = chunk.attempts,
                                              .spec = chunk.spec,
                                              .cursor = chunk.cursor,
                                              .rows = chunk.rows,
                                              .synced_at = chunk.synced_at});
    }
  }
  std::stable_sort(held.begin(), held.end(), [](auto& left, auto& right) { return left.first < right.first; });
  for (auto& [position, given] : held) answer.chunks.push_back(std::move(given));
  return say(answer, now_);
}

/// Why the chunk that was asked for cannot be had; empty: it can.
inline std::string ChunkModel::refusal_of(const ModelChunk& chunk, std::optional<Moment> older_than) {
  if (chunk.held()) return held(chunk, std::nullopt);
  return chunk.final.empty() || chunk.old(now_, older_than) ? "" : "terminal";
}

inline std::string ChunkModel::held(const ModelChunk& chunk, std::optional<Moment> due_at) {
  const auto& by = lease(chunk.lease);
  return "held by " + by.holder + " until " + away(by.expires_at, now_) + " retry " +
         away(std::min(by.expires_at, due_at.value_or(by.expires_at)), now_);
}

/// The chunks that are due, in the order of a claim. A solo chunk is left out of a claim of many, unless it is the
/// first.
inline ChunkModel::Chosen ChunkModel::choose_next(const ModelSet& set, int max) const {
  std::vector<std::tuple<Moment, std::int64_t, std::string>> due;
  for (const auto& [key, chunk] : set.chunks) {
    if (chunk.open() && chunk.due_at <= now_) due.emplace_back(chunk.due_at, chunk.position, key);
  }
  std::sort(due.begin(), due.end());
  Chosen chosen;
  for (const auto& [due_at, position, key] : due) {
    if (max-- == 0) break;
    const bool solo = set.chunks.at(key).solo;
    if (solo && chosen.empty() && key == std::get<2>(due.front())) return {key};
    if (!solo) chosen.push_back(key);
  }
  return chosen;
}

inline ChunkModel::Chosen ChunkModel::choose_old(const ModelSet& set, const Ask& ask) const {
  std::vector<std::tuple<Moment, std::int64_t, std::string>> old;
  for (const auto& [key, chunk] : set.chunks) {
    if (chunk.old(now_, ask.older_than)) old.emplace_back(*chunk.synced_at, chunk.position, key);
  }
  std::sort(old.begin(), old.end());
  Chosen chosen;
  for (std::size_t i = 0; i < old.size() && i < index(ask.max); ++i) chosen.push_back(std::get<2>(old[i]));
  return chosen;
}

inline std::string ChunkModel::nothing(const ModelSet& set) {
  std::optional<Moment> due_at;
  const ModelChunk* first = nullptr;
  const auto order = [this](const ModelChunk& chunk) {
    return std::pair(lease(chunk.lease).expires_at, chunk.position);
  };
  for (const auto& [key, chunk] : set.chunks) {
    if (chunk.open()) due_at = std::min(due_at.value_or(chunk.due_at), chunk.due_at);
    if (chunk.held() && (first == nullptr || order(chunk) < order(*first))) first = &chunk;
  }
  return first == nullptr ? "empty retry " + away(due_at, now_) : held(*first, due_at);
}

/// The lease that a claim puts its chunks under.
inline int ChunkModel::lease_for(const Ask& ask, bool solo) {
  if (ask.lease && !solo) return loaders_[index(*ask.lease)];
  ModelLease fresh{.holder = ask.holder, .ttl = ask.ttl == 0 ? default_ttl : ask.ttl, .request = ask.request};
  if (ask.lease) fresh.ttl = lease(loaders_[index(*ask.lease)]).ttl;
  fresh.expires_at = now_ + fresh.ttl;
  leases_.push_back(fresh);
  return static_cast<int>(leases_.size()) - 1;
}

inline std::string ChunkModel::grant(const Ask& ask, ModelSet& set, const Chosen& chosen) {
  const bool solo = set.chunks.at(chosen.front()).solo;
  const int id = lease_for(ask, solo);
  Granted answer{.holder = ask.holder, .ttl = lease(id).ttl, .expires_at = lease(id).expires_at, .solo = solo};
  for (const auto& key : chosen) {
    auto& chunk = set.chunks.at(key);
    if (!chunk.final.empty()) {
      chunk.begin_anew();
      chunk.forget_progress();
    }
    const auto previous = std::exchange(chunk.holder, ask.holder);
    chunk.token = std::max(chunk.token + 1, now_);
    chunk.lease = id;
    chunk.ended_as.clear();
    chunk.due_at = 0;
    chunk.started_at = chunk.started_at.value_or(now_);
    tokens_[{ask.set, key}].push_back(chunk.token);
    granted_[ask.set].push_back(key);
    answer.chunks.push_back({.key = key,
                             .token = chunk.token,
                             .attempt = ++chunk.attempts,
                             .spec = chunk.spec,
                             .cursor = chunk.cursor,
                             .rows = chunk.rows,
                             .previous_holder = previous,
                             .synced_at = chunk.synced_at});
  }
  return say(answer, now_);
}

}  // namespace leasehold::chunk_model
