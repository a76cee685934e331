// Random sequences of what happens to chunks, against the model, SQLite and PostgreSQL: all three must agree, act for
// act, and after every act about what became of the chunk and its set.
//
// RC_PARAMS="seed=..." replays a run; a failing sequence is made small and printed.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "model/agreement.h"
#include "model/chunk_model.h"
#include "model/chunk_model_acts.h"
#include "model/chunk_model_subject.h"

namespace leasehold::chunk_model {
namespace {

using support::StoreKind;

constexpr int key_count = 5;

/// Runs one sequence on all three. Every sequence has sets of its own, so that the stores need not be made anew.
class ChunkSequence {
 public:
  ChunkSequence(ChunkSubject& sqlite, ChunkSubject& postgres, int number)
      : sqlite_(sqlite), postgres_(postgres), model_(start(sqlite, postgres)), prefix_("run" + std::to_string(number)) {
    // Without a plan there is nothing to happen to.
    step(first_plan_);
  }

  void step(const Act& act) {
    act_ = act;
    act_on_sets(act) || act_on_leases(act) || act_on_chunks(act);
    agree([&](auto& it) { return it.progress(set_name(act.set)); });
  }

  /// Every chunk again: an act may have changed others, too.
  void look_at_everything() {
    for (int set = 0; set < 2; ++set) {
      for (int key = 0; key < key_count; ++key) agree([&](auto& it) { return it.show(set_name(set), key_name(key)); });
      agree([&](auto& it) { return it.progress(set_name(set)); });
    }
  }

 private:
  static Moment start(ChunkSubject& sqlite, ChunkSubject& postgres) {
    sqlite.start_afresh();
    postgres.start_afresh();
    return sqlite.now();
  }

  bool act_on_sets(const Act& act) {
    const auto set = set_name(act.set);
    switch (act.verb) {
      case Verb::plan: agree([&](auto& it) { return it.plan(set, planner(act), plan_of(act)); }); return true;
      case Verb::reset: agree([&](auto& it) { return it.reset(set, reset_of(act)); }); return true;
      case Verb::set: {
        agree([&](auto& it) { return it.set(set, 1 + act.number, 1 + act.holder); });
        return true;
      }
      case Verb::remove: agree([&](auto& it) { return it.remove(set); }); return true;
      case Verb::recover: agree([&](auto& it) { return it.recover(); }); return true;
      case Verb::advance:
        model_.advance(act.span);
        sqlite_.advance(act.span);
        postgres_.advance(act.span);
        return true;
      default: return false;
    }
  }

  bool act_on_leases(const Act& act) {
    const int loader = act.key < model_.loaders() ? model_.loaders() - 1 - act.key : -1;
    Ask ask{.set = set_name(act.set), .max = 1 + act.number};
    switch (act.verb) {
      case Verb::attach:
        ask.lease = loader;
        ask.holder = loader_;
        if (act.choice == 0) ask.key = key_name(act.key);
        if (loader >= 0) claim(ask);
        return true;
      case Verb::open: agree([&](auto& it) { return it.open(loader_, ttl(act)); }); return true;
      case Verb::extend:
        if (loader >= 0) agree([&](auto& it) { return it.extend(loader); });
        return true;
      case Verb::close:
        if (loader >= 0) agree([&](auto& it) { return it.close(loader); });
        return true;
      case Verb::claim_old: ask.older_than = std::max<Moment>(act.span, 0); [[fallthrough]];
      case Verb::claim_key:
      case Verb::claim:
        ask.holder = "holder" + std::to_string(act.holder);
        ask.ttl = act.choice == 0 ? 0 : ttl(act);
        if (act.verb == Verb::claim_key || act.choice == 1) ask.key = key_name(act.key);
        if (act.choice > 5) ask.request = prefix_ + "/request" + std::to_string(act.set * 2 + act.bits % 2);
        claim(ask);
        return true;
      default: return false;
    }
  }

  bool act_on_chunks(const Act& act) {
    const auto set = set_name(act.set);
    const auto key = key_for(act);
    switch (act.verb) {
      case Verb::save:
        agree([&](auto& it) { return it.save(set, key, act.ago, act.choice < 2 ? 5'000'000 : 0, save_of(act)); });
        break;
      case Verb::complete: settle({.word = "complete", .save = save_of(act)}); break;
      case Verb::release: settle({.word = "release", .save = save_of(act)}); break;
      case Verb::skip: settle({.word = "skip"}); break;
      case Verb::fail: settle(failure_of(act)); break;
      case Verb::skip_open: agree([&](auto& it) { return it.skip(set, key, "by hand"); }); break;
      default: return false;
    }
    agree([&](auto& it) { return it.show(set, key); });
    return true;
  }

  void claim(const Ask& ask) {
    // Of more than eight dead leases a claim takes some; which ones is not specified.
    if (model_.dead_leases(ask.set) > 8) return;
    agree([&](auto& it) { return it.claim(ask); });
  }
  void settle(const Verdict& verdict) {
    agree([&](auto& it) { return it.settle(set_name(act_.set), key_for(act_), act_.ago, verdict); });
  }

  /// A bit for each key that is in the plan, and one for its spec.
  static Plan plan_of(const Act& act) {
    Plan plan;
    for (int key = 0; key < key_count; ++key) {
      if ((act.bits >> key & 1) == 0) continue;
      plan.emplace_back(key_name(key), std::to_string(act.bits >> (key_count + key) & 1));
    }
    if (act.choice == 0) std::reverse(plan.begin(), plan.end());
    return plan;
  }
  static std::string planner(const Act& act) { return std::to_string(1 + act.number / 2); }
  static Save save_of(const Act& act) {
    Save save;
    if (act.choice % 2 == 0) save.cursor = "{\"page\": " + std::to_string(act.bits) + "}";
    if (act.choice % 3 == 0) save.rows = act.bits;
    return save;
  }
  static Verdict failure_of(const Act& act) {
    Verdict verdict{.word = "fail", .save = save_of(act), .retryable = act.choice > 1};
    if (act.choice == 4 || act.choice == 5) verdict.delay = std::max<Moment>(act.span, 0);
    return verdict;
  }
  static Reset reset_of(const Act& act) {
    static constexpr const char* which[] = {"failed", "older", "keys", "all"};
    Reset reset{.which = which[act.choice % 4], .from_start = act.holder == 0};
    if (reset.which == "older") reset.older_than = std::max<Moment>(act.span, 0);
    if (reset.which == "keys") reset.keys = {key_name(act.key), key_name(act.number + 2)};
    if (reset.which == "keys" && reset.keys[0] == reset.keys[1]) reset.keys.pop_back();
    return reset;
  }

  static Moment ttl(const Act& act) {
    return act.choice % 3 == 0 ? 1'000'000 : act.choice % 3 == 1 ? 5'000'000 : 10'000'000;
  }
  [[nodiscard]] std::string set_name(int set) const { return prefix_ + "/set" + std::to_string(set); }
  /// The last one is in no plan.
  static std::string key_name(int key) { return "key" + std::to_string(key); }
  /// Mostly a chunk that was claimed lately, and sometimes another one.
  std::string key_for(const Act& act) {
    const auto& granted = model_.granted(set_name(act.set));
    const auto ago = static_cast<std::size_t>(act.key);
    return act.number > 0 && ago < granted.size() ? granted[granted.size() - 1 - ago] : key_name(act.key);
  }

  template <typename Question>
  void agree(Question&& question) {
    support::agree_at(act_, model_, sqlite_, postgres_, [&](auto& who) { return std::string(question(who)); });
  }

  ChunkSubject& sqlite_;
  ChunkSubject& postgres_;
  ChunkModel model_;
  std::string prefix_;
  /// All loaders have one name: a lease is used by the loader that opened it.
  std::string loader_ = "loader";
  Act first_plan_{.verb = Verb::plan, .number = 1, .bits = 31};
  Act act_{};  ///< the present one
};

TEST(ChunkModelTest, ModelSqliteAndPostgresAgreeOnEverySequence) {
  support::expect_agreement<ChunkSequence, ChunkSubject>(any_act());
}

}  // namespace
}  // namespace leasehold::chunk_model
