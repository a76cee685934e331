// Random sequences of what happens to schedules, against the model, SQLite and PostgreSQL: all three must agree, act
// for act, and after every act about what became of the schedule and its history. Nothing is drawn: pauses have one
// length, and cron has no jitter.
//
// RC_PARAMS="seed=..." replays a run; a failing sequence is made small and printed.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "model/agreement.h"
#include "model/schedule_model.h"
#include "model/schedule_model_acts.h"
#include "model/schedule_model_subject.h"

namespace leasehold::schedule_model {
namespace {

using support::StoreKind;

constexpr int schedule_count = 3;

/// Runs one sequence on all three. Every sequence has names of its own, so that the stores need not be made anew.
class ScheduleSequence {
 public:
  ScheduleSequence(ScheduleSubject& sqlite, ScheduleSubject& postgres, int number)
      : sqlite_(sqlite), postgres_(postgres), model_(start(sqlite, postgres)), prefix_("run" + std::to_string(number)) {
    // A pause, a calendar, and one that puts jobs into a queue: without any, little happens.
    const int definitions[] = {0, 2, 4 + 512};
    for (int i = 0; i < schedule_count; ++i) step({.verb = Verb::set, .schedule = i, .bits = definitions[i]});
  }

  void step(const Act& act) {
    act_ = act;
    if (!act_on_runs(act)) act_on_schedules(act);
    agree([&](auto& it) { return it.show(name(act.schedule)); });
    agree([&](auto& it) { return it.history(name(act.schedule)); });
  }

  /// Everything again: an act may have changed others, too.
  void look_at_everything() {
    for (int i = 0; i <= schedule_count; ++i) {
      agree([&](auto& it) { return it.show(name(i)); });
      agree([&](auto& it) { return it.history(name(i)); });
    }
    agree([&](auto& it) { return it.due(); });
  }

 private:
  static Moment start(ScheduleSubject& sqlite, ScheduleSubject& postgres) {
    sqlite.start_afresh();
    postgres.start_afresh();
    return sqlite.now();
  }

  bool act_on_runs(const Act& act) {
    const auto of = name(act.schedule);
    switch (act.verb) {
      case Verb::acquire: agree([&](auto& it) { return it.acquire(of, acquire_of(act)); }); return true;
      case Verb::heartbeat: agree([&](auto& it) { return it.heartbeat(of, act.ago); }); return true;
      case Verb::finish: agree([&](auto& it) { return it.settle(of, act.ago, true, next_of(act)); }); return true;
      case Verb::fail: agree([&](auto& it) { return it.settle(of, act.ago, false, next_of(act)); }); return true;
      case Verb::release: agree([&](auto& it) { return it.release(of, act.ago); }); return true;
      case Verb::fire: agree([&](auto& it) { return it.fire(of); }); return true;
      default: return false;
    }
  }

  void act_on_schedules(const Act& act) {
    const auto of = name(act.schedule);
    switch (act.verb) {
      case Verb::set: agree([&](auto& it) { return it.set(of, definition_of(act), next_of(act)); }); break;
      case Verb::ensure: agree([&](auto& it) { return it.ensure(of, definition_of(act), next_of(act)); }); break;
      case Verb::trigger: agree([&](auto& it) { return it.trigger(of); }); break;
      case Verb::pause: agree([&](auto& it) { return it.pause(of, act.bits % 2 == 0 ? "" : "because"); }); break;
      case Verb::resume: agree([&](auto& it) { return it.resume(of); }); break;
      case Verb::rename: agree([&](auto& it) { return it.rename(of, name(act.other)); }); break;
      case Verb::remove: agree([&](auto& it) { return it.remove(of); }); break;
      case Verb::recover: agree([&](auto& it) { return it.recover(); }); break;
      case Verb::advance:
        model_.advance(act.span);
        sqlite_.advance(act.span);
        postgres_.advance(act.span);
        agree([&](auto& it) { return it.due(); });
        break;
      default: break;
    }
  }

  static Definition definition_of(const Act& act) {
    static constexpr Moment minute = 60'000'000;
    static constexpr std::pair<bool, Moment> rules[] = {
        {false, minute}, {false, 5 * minute}, {true, 5 * minute}, {true, minute}, {true, 60 * minute}};
    static constexpr std::optional<Moment> pauses[] = {std::nullopt, 20'000'000, 2 * minute, 10 * minute};
    static constexpr const char* policies[] = {"once", "all", "skip"};
    const auto [cron, period] = rules[act.bits % 8 % 5];
    return {.cron = cron,
            .period = period,
            .on_fail = pauses[act.bits / 8 % 4],
            .ttl = act.bits / 32 % 2 == 0 ? 30'000'000 : 2 * minute,
            .misfire = policies[act.bits / 64 % 4 % 3],
            .misfire_after = act.bits / 256 % 2 == 0 ? 30'000'000 : 0,
            .queue = act.bits / 512 % 2 == 1};
  }
  /// Now and then `next` sets the next run.
  [[nodiscard]] std::optional<Moment> next_of(const Act& act) const {
    return act.bits / 1024 % 4 == 3 ? std::optional(sqlite_.now() + act.span) : std::nullopt;
  }
  [[nodiscard]] AcquireAsk acquire_of(const Act& act) const {
    AcquireAsk ask{.holder = "holder" + std::to_string(act.bits % 3), .at_once = act.bits / 4 % 8 == 0};
    if (act.bits / 32 % 8 == 0) ask.request = name(act.schedule) + "/request" + std::to_string(act.bits % 2);
    return ask;
  }
  [[nodiscard]] std::string name(int number) const { return prefix_ + "/s" + std::to_string(number); }

  template <typename Question>
  void agree(Question&& question) {
    support::agree_at(act_, model_, sqlite_, postgres_, [&](auto& who) { return std::string(question(who)); });
  }

  ScheduleSubject& sqlite_;
  ScheduleSubject& postgres_;
  ScheduleModel model_;
  std::string prefix_;
  Act act_;  ///< the present one
};

TEST(ScheduleModelTest, ModelSqliteAndPostgresAgreeOnEverySequence) {
  support::expect_agreement<ScheduleSequence, ScheduleSubject>(any_act());
}

}  // namespace
}  // namespace leasehold::schedule_model
