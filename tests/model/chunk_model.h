// What chunked syncs promise, in C++: no database, no concurrency, time is a number.
#pragma once

#include "model/chunk_model_state.h"

namespace leasehold::chunk_model {

class ChunkModel {
 public:
  explicit ChunkModel(Moment now) : now_(now) {}

  void advance(Moment by) { now_ += by; }
  [[nodiscard]] int loaders() const { return static_cast<int>(loaders_.size()); }
  /// The keys of all grants of a set so far, the latest last.
  [[nodiscard]] const std::vector<std::string>& granted(const std::string& set) { return granted_[set]; }
  /// Leases that a claim on this set would take over.
  [[nodiscard]] int dead_leases(const std::string& name) const { return static_cast<int>(dead(name).size()); }

  std::string plan(const std::string& set, const std::string& planner, const Plan& plan);
  std::string set(const std::string& name, int max_failures, int max_crashes) {
    auto* set = find(name);
    if (set == nullptr) return "not_found";
    set->max_failures = max_failures;
    set->max_crashes = max_crashes;
    return "ok";
  }

  std::string claim(const Ask& ask);
  std::string save(const std::string& set, const std::string& key, int ago, Moment ttl, const Save& save);
  std::string settle(const std::string& set, const std::string& key, int ago, const Verdict& verdict);

  std::string skip(const std::string& set, const std::string& key, const std::string& reason) {
    auto* chunk = find(set, key);
    if (chunk == nullptr) return "not_found";
    if (!chunk->final.empty()) return "terminal";
    if (chunk->held()) return "held";
    chunk->final = "skipped";
    chunk->finished_at = now_;
    chunk->due_at = 0;
    chunk->note = reason;
    return "skipped";
  }

  std::string reset(const std::string& name, const Reset& reset);

  std::string remove(const std::string& name) {
    const auto* set = find(name);
    if (set == nullptr) return "not_found";
    for (const auto& [key, chunk] : set->chunks) {
      if (chunk.held()) return "held";
    }
    const auto count = set->chunks.size();
    sets_.erase(name);
    return "removed " + std::to_string(count);
  }

  std::string recover() {
    Taken taken;
    for (int id = 0; id < static_cast<int>(leases_.size()); ++id) {
      if (!lease(id).ended() && !lease(id).live(now_) && !held_by(id).empty()) take_over(id, taken);
    }
    return say_recovered(taken.chunks, taken.failed);
  }

  std::string open(const std::string& holder, Moment ttl) {
    leases_.push_back({.holder = holder, .of_loader = true, .ttl = ttl, .expires_at = now_ + ttl});
    loaders_.push_back(static_cast<int>(leases_.size()) - 1);
    return "open until " + away(now_ + ttl, now_);
  }
  std::string extend(int loader) {
    auto& held = lease(loaders_[index(loader)]);
    if (!held.live(now_)) return "lost " + held.loss();
    held.expires_at = now_ + held.ttl;
    return "extended until " + away(held.expires_at, now_);
  }
  std::string close(int loader) {
    const int id = loaders_[index(loader)];
    if (lease(id).ended() && lease(id).end_reason != "closed") return "lost " + lease(id).loss();
    lease(id).end_reason = "closed";
    for (auto* chunk : held_by(id)) give_back(*chunk, "returned");
    return "closed";
  }

  [[nodiscard]] std::string show(const std::string& set, const std::string& key);
  [[nodiscard]] std::string progress(const std::string& name);

 private:
  struct Taken {
    int chunks = 0;
    int failed = 0;
  };
  using Chosen = std::vector<std::string>;

  static std::size_t index(int number) { return static_cast<std::size_t>(number); }
  ModelLease& lease(int id) { return leases_[index(id)]; }
  ModelSet* find(const std::string& set) {
    const auto found = sets_.find(set);
    return found == sets_.end() ? nullptr : &found->second;
  }
  ModelChunk* find(const std::string& set, const std::string& key) {
    auto* in = find(set);
    if (in == nullptr) return nullptr;
    const auto found = in->chunks.find(key);
    return found == in->chunks.end() ? nullptr : &found->second;
  }
  [[nodiscard]] Moment token_of(const std::string& set, const std::string& key, int ago) {
    const auto& given = tokens_[{set, key}];
    const auto back = index(ago) + 1;
    return ago < 0 || given.size() < back ? 12345 : given[given.size() - back];
  }

  std::vector<ModelChunk*> held_by(int id) {
    std::vector<ModelChunk*> held;
    for (auto& [name, set] : sets_) {
      for (auto& [key, chunk] : set.chunks) {
        if (chunk.lease == id) held.push_back(&chunk);
      }
    }
    return held;
  }
  [[nodiscard]] std::vector<int> dead(const std::string& name) const {
    std::vector<int> dead;
    const auto set = sets_.find(name);
    if (set == sets_.end()) return dead;
    for (const auto& [key, chunk] : set->second.chunks) {
      if (chunk.held() && !leases_[index(chunk.lease)].live(now_)) dead.push_back(chunk.lease);
    }
    std::sort(dead.begin(), dead.end());
    dead.erase(std::unique(dead.begin(), dead.end()), dead.end());
    return dead;
  }

  /// The holder is gone, without a verdict.
  static void give_back(ModelChunk& chunk, const std::string& end) {
    chunk.lease = no_lease;
    chunk.ended_as = end;
  }
  void take_over(int id, Taken& taken) {
    lease(id).end_reason = "expired";
    const auto held = held_by(id);
    for (auto* chunk : held) {
      const bool culprit = held.size() == 1;
      give_back(*chunk, culprit ? "expired" : "returned");
      chunk->solo = chunk->solo || !culprit;
      if (culprit && ++chunk->crashes >= set_of(*chunk).max_crashes) {
        chunk->final = "exhausted";
        chunk->finished_at = now_;
        ++taken.failed;
      } else {
        ++taken.chunks;
      }
    }
  }
  ModelSet& set_of(const ModelChunk& wanted) {
    const auto has_it = [&](auto& set) {
      return std::any_of(set.second.chunks.begin(), set.second.chunks.end(),
                         [&](auto& each) { return &each.second == &wanted; });
    };
    return std::find_if(sets_.begin(), sets_.end(), has_it)->second;
  }

  [[nodiscard]] static std::string state_of(const ModelSet& set) {
    const auto any = [&](auto&& rule) {
      return std::any_of(set.chunks.begin(), set.chunks.end(), [&](auto& each) { return rule(each.second); });
    };
    if (any([](const ModelChunk& chunk) { return chunk.final.empty(); })) {
      return any([](const ModelChunk& chunk) { return chunk.started(); }) ? "running" : "planned";
    }
    return any([](const ModelChunk& chunk) { return chunk.final == "exhausted"; }) ? "partial" : "complete";
  }

  std::string replay(int id, const std::string& holder);
  std::string refusal_of(const ModelChunk& chunk, std::optional<Moment> older_than);
  std::string held(const ModelChunk& chunk, std::optional<Moment> due_at);
  Chosen choose_next(const ModelSet& set, int max) const;
  Chosen choose_old(const ModelSet& set, const Ask& ask) const;
  std::string nothing(const ModelSet& set);
  std::string grant(const Ask& ask, ModelSet& set, const Chosen& chosen);
  int lease_for(const Ask& ask, bool solo);
  std::string lost(const ModelChunk& chunk, Moment token);
  std::string apply(ModelSet& set, ModelChunk& chunk, const Verdict& verdict);

  Moment now_;
  std::map<std::string, ModelSet> sets_;
  std::vector<ModelLease> leases_;
  std::vector<int> loaders_;  ///< those of leases_ that loaders have opened
  std::map<std::pair<std::string, std::string>, std::vector<Moment>> tokens_;
  std::map<std::string, std::vector<std::string>> granted_;
};

}  // namespace leasehold::chunk_model

#include "model/chunk_model_claim.h"
#include "model/chunk_model_plan.h"
#include "model/chunk_model_settle.h"
