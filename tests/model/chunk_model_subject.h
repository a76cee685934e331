// A real store, asked about chunks in the model's words.
#pragma once

#include "model/chunk_model_state.h"
#include "support/chunk_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::chunk_model {

class ChunkSubject {
 public:
  explicit ChunkSubject(support::StoreKind kind) : test_store_(kind), store_(test_store_.open()) {}

  void advance(Moment by) { test_store_.advance(Duration(by)); }
  [[nodiscard]] Moment now() const { return micros(test_store_.now()); }

  /// Takes back what is left of an earlier sequence: that must not be counted later.
  void start_afresh() {
    advance(86'400'000'000);
    support::must(store_.recover());
    tokens_.clear();
    loaders_.clear();
  }

  std::string plan(const std::string& set, const std::string& planner, const Plan& plan) {
    std::vector<PlannedChunk> planned;
    for (const auto& [key, spec] : plan) planned.push_back({key, spec});
    const auto reported = support::must(chunks().plan(set, planned, {.planner = planner}));
    return say(Changed{.created = reported.created,
                       .added = reported.added,
                       .replaced = reported.replaced,
                       .removed = reported.removed,
                       .kept = reported.kept,
                       .differing = reported.differing,
                       .left = reported.left,
                       .total = reported.total,
                       .state = to_string(reported.state)});
  }
  std::string set(const std::string& set, int max_failures, int max_crashes) {
    const auto reported = chunks().set(set, {.max_failures = max_failures, .max_crashes = max_crashes});
    return reported ? "ok" : word(reported.error());
  }

  std::string claim(const Ask& ask) {
    ChunkClaimOptions options{.key = ask.key, .max = ask.max};
    auto call = support::by(ask.holder);
    if (ask.older_than) options.older_than = Duration(*ask.older_than);
    if (ask.lease) {
      call.lease = loaders_.at(static_cast<std::size_t>(*ask.lease));
    } else {
      options.ttl = support::unless_zero(Duration(ask.ttl));
      options.request_id = ask.request;
    }
    const auto grant = chunks().claim(ask.set, options, call);
    return grant ? remember(*grant) : refusal(grant.error());
  }

  std::string save(const std::string& set, const std::string& key, int ago, Moment ttl, const Save& save) {
    const auto beat =
        chunks().heartbeat(set, key, token(set, key, ago), saving(save), support::unless_zero(Duration(ttl)));
    if (!beat) return refusal(beat.error());
    return "extended until " + away(micros(beat->expires_at), now()) + " rows " + std::to_string(beat->rows);
  }

  std::string settle(const std::string& set, const std::string& key, int ago, const Verdict& verdict) {
    const auto settled = give(set, key, token(set, key, ago), verdict);
    if (!settled) return refusal(settled.error());
    return say_settled(to_string(settled->state), micros(settled->due_at), to_string(settled->set_state),
                       settled->replayed, now());
  }

  std::string skip(const std::string& set, const std::string& key, const std::string& reason) {
    const auto skipped = chunks().skip(set, key, reason);
    return skipped ? to_string(*skipped) : word(skipped.error());
  }
  std::string reset(const std::string& set, const Reset& reset) {
    using Which = ChunkReset::Which;
    const auto which = reset.which == "failed"  ? Which::failed
                       : reset.which == "older" ? Which::older
                       : reset.which == "keys"  ? Which::keys
                                                : Which::all;
    const auto reported = chunks().reset(
        set,
        {.which = which, .keys = reset.keys, .older_than = Duration(reset.older_than), .from_start = reset.from_start});
    return reported ? say_reset(reported->reset, reported->running, reported->missing) : word(reported.error());
  }
  std::string remove(const std::string& set) {
    const auto removed = chunks().remove(set);
    return removed ? "removed " + std::to_string(*removed) : word(removed.error());
  }
  std::string recover() {
    const auto recovered = support::must(store_.recover());
    return say_recovered(recovered.chunks, recovered.failed);
  }

  std::string open(const std::string& holder, Moment ttl) {
    loaders_.push_back(support::must(chunks().open_lease(Duration(ttl), support::by(holder))));
    return "open until " + away(micros(loaders_.back().expires_at), now());
  }
  std::string extend(int loader) {
    const auto extended = chunks().extend(loaders_.at(static_cast<std::size_t>(loader)));
    return extended ? "extended until " + away(micros(extended->expires_at), now()) : refusal(extended.error());
  }
  std::string close(int loader) {
    const auto closed = chunks().close(loaders_.at(static_cast<std::size_t>(loader)));
    return closed ? "closed" : refusal(closed.error());
  }

  std::string show(const std::string& set, const std::string& key) {
    const auto info = chunks().show(set, key);
    if (!info) return word(info.error());
    return say(Seen{.state = to_string(info->state),
                    .position = info->position,
                    .planner = info->planner,
                    .spec = info->spec,
                    .token = info->token.value,
                    .attempts = info->attempts,
                    .failures = info->failures,
                    .crashes = info->crashes,
                    .due_at = micros(info->due_at),
                    .started_at = micros(info->started_at),
                    .finished_at = micros(info->finished_at),
                    .synced_at = micros(info->synced_at),
                    .saved_at = micros(info->saved_at),
                    .expires_at = micros(info->expires_at),
                    .cursor = info->cursor,
                    .rows = info->rows,
                    .holder = support::name_of(info->holder),
                    .error = info->error,
                    .note = info->note},
               now());
  }

  std::string progress(const std::string& name) {
    const auto set = chunks().progress(name);
    if (!set) return word(set.error());
    return say(SeenSet{.state = to_string(set->state),
                       .planner = set->planner,
                       .total = set->total,
                       .available = set->available,
                       .deferred = set->deferred,
                       .running = set->running,
                       .expired = set->expired,
                       .completed = set->completed,
                       .skipped = set->skipped,
                       .exhausted = set->exhausted,
                       .rows = set->rows,
                       .attempts = set->attempts,
                       .finished_at = micros(set->finished_at),
                       .oldest_sync = micros(set->oldest_sync)},
               now());
  }

 private:
  static Moment micros(Timestamp when) { return when.time_since_epoch().count(); }
  static std::optional<Moment> micros(std::optional<Timestamp> when) {
    return when ? std::optional(micros(*when)) : std::nullopt;
  }
  static std::string word(const Error& error) { return to_string(error.code); }
  static ChunkSave saving(const Save& save) {
    ChunkSave saving{.rows = save.rows};
    if (save.cursor) saving.cursor = *save.cursor;
    return saving;
  }

  [[nodiscard]] Chunks chunks() const { return store_.chunks(); }
  [[nodiscard]] Token token(const std::string& set, const std::string& key, int ago) {
    const auto& given = tokens_[{set, key}];
    const auto back = static_cast<std::size_t>(ago) + 1;
    return ago < 0 || given.size() < back ? Token{12345} : given[given.size() - back];
  }

  Result<ChunkSettled> give(const std::string& set, const std::string& key, Token token, const Verdict& verdict) const {
    const auto save = saving(verdict.save);
    if (verdict.word == "complete") return chunks().complete(set, key, token, save);
    if (verdict.word == "release") return chunks().release(set, key, token, save);
    if (verdict.word == "skip") return chunks().skip(set, key, token, "not needed");
    leasehold::Verdict failure{.kind = leasehold::Verdict::Kind::fail,
                               .text = "no luck",
                               .retryable = verdict.retryable,
                               .cursor = save.cursor,
                               .rows = save.rows};
    if (verdict.delay) failure.delay = Duration(*verdict.delay);
    return chunks().settle({set, key, token, failure});
  }

  std::string remember(const ChunkGrant& grant) {
    Granted reported{.holder = grant.holder.name,
                     .ttl = grant.ttl.count(),
                     .expires_at = micros(grant.expires_at),
                     .solo = grant.solo,
                     .replayed = grant.replayed};
    for (const auto& chunk : grant.chunks) {
      if (!grant.replayed) tokens_[{chunk.set, chunk.key}].push_back(chunk.token);
      reported.chunks.push_back({.key = chunk.key,
                                 .token = chunk.token.value,
                                 .attempt = chunk.attempt,
                                 .spec = chunk.spec,
                                 .cursor = chunk.cursor,
                                 .rows = chunk.rows,
                                 .previous_holder = support::name_of(chunk.previous_holder),
                                 .synced_at = micros(chunk.synced_at)});
    }
    return say(reported, now());
  }

  [[nodiscard]] std::string refusal(const Error& error) const {
    auto text = word(error);
    if (error.lost_reason) text += std::string(" ") + to_string(*error.lost_reason);
    if (error.code == Errc::lost && error.held_by) text += " to " + error.held_by->holder.name;
    if (error.code == Errc::held && error.held_by) {
      text += " by " + error.held_by->holder.name + " until " + away(micros(error.held_by->expires_at), now());
    }
    if (error.code == Errc::held || error.code == Errc::empty) text += " retry " + away(micros(error.retry_at), now());
    return text;
  }

  support::TestStore test_store_;
  Store store_;
  std::map<std::pair<std::string, std::string>, std::vector<Token>> tokens_;
  std::vector<SharedLease> loaders_;
};

}  // namespace leasehold::chunk_model
