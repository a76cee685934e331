// Chunks: claim by key, save a cursor, complete, fail, release. When all chunks of a set are final, on to the next set.
#include <fmt/format.h>

#include <optional>
#include <set>

#include "history/load.h"

namespace leasehold::history {
namespace {

class ChunkActor : public Actor {
 public:
  explicit ChunkActor(Desk& desk) : desk_(desk) {}

  bool act() override {
    if (!planned_) return plan();
    if (late_ && desk_.dice.one_in(8)) return act_late();
    if (!held_) return claim();
    const auto held = *held_;
    const int die = desk_.dice.roll(10);
    return die < 6 ? save(held) : settle(held, die < 8 ? "complete" : die < 9 ? "fail" : "release");
  }

 private:
  struct Held {
    std::string set;
    std::string key;
    Token token;
  };

  [[nodiscard]] std::string set() const { return desk_.key("set", round_); }

  /// Everybody plans; only the first changes anything.
  bool plan() {
    std::vector<PlannedChunk> chunks;
    for (int i = 0; i < desk_.options.keys; ++i) chunks.push_back({.key = std::to_string(i), .spec = "{}"});
    const auto act = desk_.recorder.begin("set", "plan", set(), {});
    const ChunkSetSettings never_exhausted{.max_failures = 1000, .max_crashes = 1000};
    const auto outcome = desk_.store.chunks().plan(set(), chunks, {.settings = never_exhausted});
    if (!outcome) return refused(act, outcome.error());
    desk_.recorder.end(act, "ok", {});
    planned_ = true;
    return true;
  }

  bool claim() {
    const auto key = std::to_string(desk_.dice.roll(desk_.options.keys));
    const auto act = desk_.recorder.begin("chunk", "claim", name(set(), key), {});
    const auto grant =
        desk_.store.chunks().claim(set(), {.key = key, .ttl = desk_.options.ttl}, {.holder = desk_.holder()});
    if (!grant) {
      if (grant.error().code == Errc::terminal) note_final(key);
      return refused(act, grant.error());
    }
    const auto& chunk = grant->chunks.front();
    Fields reported;
    reported.add("token", chunk.token.value).add("cursor", chunk.cursor.value_or(""));
    desk_.recorder.end(act, "ok", add_span(reported, *grant));
    held_ = Held{.set = set(), .key = key, .token = chunk.token};
    return true;
  }

  bool save(const Held& chunk) {
    // A number that no other process saves.
    const auto cursor = fmt::format("{}", desk_.recorder.process() * 1'000'000'000LL + desk_.recorder.acts());
    const auto act = begin("save", chunk, cursor);
    const auto saved = desk_.store.chunks().heartbeat(chunk.set, chunk.key, chunk.token, {.cursor = cursor});
    if (!saved) return refused(act, saved.error(), chunk);
    Fields reported;
    desk_.recorder.end(act, "ok", add_span(reported, *saved));
    return true;
  }

  bool settle(const Held& chunk, std::string_view verdict) {
    const auto act = begin(verdict, chunk, {});
    const auto chunks = desk_.store.chunks();
    const auto settled =
        verdict == "complete" ? chunks.complete(chunk.set, chunk.key, chunk.token)
        : verdict == "fail"
            ? chunks.settle({chunk.set, chunk.key, chunk.token, Verdict::retry_in(Duration(0), "drawn")})
            : chunks.release(chunk.set, chunk.key, chunk.token);
    if (!settled) return refused(act, settled.error(), chunk);
    desk_.recorder.end(act, "ok", Fields().add("state", to_string(settled->state)).add("replayed", settled->replayed));
    give_up(chunk);
    return true;
  }

  bool act_late() {
    const auto chunk = *late_;
    if (desk_.dice.one_in(3)) late_.reset();
    return desk_.dice.one_in(2) ? save(chunk) : settle(chunk, "complete");
  }

  static std::string name(const std::string& set, const std::string& key) { return set + "/" + key; }

  std::int64_t begin(std::string_view verb, const Held& chunk, std::string_view cursor) {
    return desk_.recorder.begin("chunk", verb, name(chunk.set, chunk.key),
                                Fields().add("token", chunk.token.value).add("cursor", cursor));
  }

  bool refused(std::int64_t act, const Error& error) {
    desk_.recorder.end(act, word(error), reported(error));
    return could_ask(error);
  }
  bool refused(std::int64_t act, const Error& error, const Held& chunk) {
    if (error.code == Errc::lost) give_up(chunk);
    return refused(act, error);
  }

  /// Not what was lost before, for which this may be a late act.
  void give_up(const Held& chunk) {
    if (!held_ || held_->token != chunk.token) return;
    late_ = held_;
    held_.reset();
  }

  void note_final(const std::string& key) {
    final_.insert(key);
    if (static_cast<int>(final_.size()) < desk_.options.keys) return;
    final_.clear();
    ++round_;
    planned_ = false;
  }

  Desk& desk_;
  std::int64_t round_ = 0;
  bool planned_ = false;
  std::set<std::string> final_;
  std::optional<Held> held_;
  std::optional<Held> late_;
};

}  // namespace

std::unique_ptr<Actor> chunk_actor(Desk& desk) { return std::make_unique<ChunkActor>(desk); }

}  // namespace leasehold::history
