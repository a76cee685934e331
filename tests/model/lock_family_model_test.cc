// Random sequences of what happens to locks, shares and locks taken together, against the model, SQLite and PostgreSQL:
// all three must agree, act for act, and after every act about the holders and the events.
//
// RC_PARAMS="seed=..." replays a run; a failing sequence is made small and printed.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "model/agreement.h"
#include "model/lock_family_acts.h"
#include "model/lock_family_model.h"
#include "model/lock_family_subject.h"

namespace leasehold::lock_family {
namespace {

using support::StoreKind;

constexpr int lock_count = 3;

/// Runs one sequence on all three. Every sequence has names of its own, so that the stores need not be made anew.
class LockFamilySequence {
 public:
  LockFamilySequence(LockFamilySubject& sqlite, LockFamilySubject& postgres, int number)
      : sqlite_(sqlite), postgres_(postgres), prefix_("run" + std::to_string(number) + "/"), model_(start()) {}

  void step(const Act& act) {
    act_ = act;
    take(act) || keep(act) || stand(act) || sweep(act);
    if (act.verb != Verb::advance) agree([&](auto& it) { return it.news(); });
    // One of the two is enough each time: the other comes soon, and at the end in any case.
    if (act.choice % 2 == 0) {
      agree([&](auto& it) { return it.show(lock(act.lock)); });
    } else {
      agree([&](auto& it) { return it.holders(lock(act.lock)); });
    }
  }

  /// Everything again: an act may have changed others, too.
  void look_at_everything() {
    for (int i = 0; i < lock_count; ++i) {
      agree([&](auto& it) { return it.show(lock(i)); });
      agree([&](auto& it) { return it.holders(lock(i)); });
    }
    agree([&](auto& it) { return it.list(false); });
    agree([&](auto& it) { return it.list(true); });
    agree([&](auto& it) { return it.status(); });
  }

 private:
  Moment start() {
    sqlite_.start_afresh(prefix_);
    postgres_.start_afresh(prefix_);
    return sqlite_.now();
  }

  bool take(const Act& act) {
    const auto request = request_of(act, act.choice < 2 ? prefix_ + "request" + std::to_string(act.which) : "");
    switch (act.verb) {
      case Verb::acquire:
        remember({lock(act.lock)}, [&](auto& it) { return it.acquire({lock(act.lock)}, request); });
        break;
      case Verb::share:
        remember({lock(act.lock)}, [&](auto& it) { return it.share(lock(act.lock), permits_of(act), request); });
        break;
      case Verb::acquire_all:
        remember(locks_of(act), [&](auto& it) { return it.acquire(locks_of(act), request); });
        break;
      default: return false;
    }
    return true;
  }

  bool keep(const Act& act) {
    const auto name = lock(act.lock);
    const auto named = token(name, act.ago);
    const auto ttl = act.choice == 0 ? std::optional(act.ttl) : std::nullopt;
    const auto meant = act.choice < 4 ? std::optional(named) : std::nullopt;
    switch (act.verb) {
      case Verb::heartbeat: agree([&](auto& it) { return it.heartbeat(name, named, ttl); }); break;
      case Verb::release: agree([&](auto& it) { return it.release(name, named); }); break;
      case Verb::revoke: agree([&](auto& it) { return it.revoke(name, meant); }); break;
      default: return false;
    }
    return true;
  }

  /// A waiter requests the same locks every time, with the request id of its place.
  bool stand(const Act& act) {
    const auto names = act.which < 2 ? locks_of(act) : Names{lock(act.lock)};
    std::string place = prefix_ + "place" + std::to_string(act.holder);
    for (const auto& name : names) place += " " + name;
    const auto request = request_of(act, place);
    switch (act.verb) {
      case Verb::wait: agree([&](auto& it) { return it.wait(names, request); }); break;
      case Verb::leave: leave(names, place); break;
      case Verb::ask:
        if (names.size() > 1 || act.choice < 4) {
          remember(names, [&](auto& it) { return it.acquire(names, request); });
        } else {
          remember(names, [&](auto& it) { return it.share(names.front(), permits_of(act), request); });
        }
        break;
      default: return false;
    }
    return true;
  }

  /// It does not matter whether the place of a waiter that was silent for too long still exists when it leaves.
  void leave(const Names& names, const std::string& place) {
    if (model_.stands(place)) return agree([&](auto& it) { return it.leave(names, place); });
    model_.leave(names, place);
    sqlite_.leave(names, place);
    postgres_.leave(names, place);
  }

  bool sweep(const Act& act) {
    switch (act.verb) {
      case Verb::recover: agree([&](auto& it) { return it.recover(act.choice < 2 ? 1 : 100); }); break;
      case Verb::reap: agree([&](auto& it) { return it.reap(holder(act)); }); break;
      case Verb::prune: agree([&](auto& it) { return it.prune(act.delay); }); break;
      case Verb::advance:
        model_.advance(act.span);
        sqlite_.advance(act.span);
        postgres_.advance(act.span);
        break;
      default: return false;
    }
    return true;
  }

  [[nodiscard]] Request request_of(const Act& act, const std::string& id) const {
    const auto who = support::holder(holder(act));
    return {.holder = who.name,
            .instance = act.choice == 7 ? "" : who.instance,
            .boot_id = boot_id_of(who.boot_id),
            .ttl = act.ttl,
            .delay = act.delay,
            .request_id = id};
  }
  /// Mostly three, so that shares meet; sometimes another capacity, or none.
  static Permits permits_of(const Act& act) {
    if (act.choice == 0) return {};
    if (act.choice == 1) return {.count = 1 + act.which % 2, .capacity = 2};
    return {.count = 1 + act.which % 3, .capacity = 3};
  }
  [[nodiscard]] Names locks_of(const Act& act) const {
    Names names;
    for (int i = lock_count - 1; i >= 0; --i) {
      if ((act.choice >> i & 1) == 1 || i == act.lock) names.push_back(lock(i));
    }
    return names;
  }
  [[nodiscard]] std::string lock(int number) const { return prefix_ + std::string(1, static_cast<char>('a' + number)); }
  static std::string holder(const Act& act) { return "holder" + std::to_string(act.holder); }

  /// The tokens that were given for a lock, read from the model: the stores have just agreed with it.
  std::int64_t token(const std::string& name, int ago) {
    const auto& given = tokens_[name];
    const auto back = static_cast<std::size_t>(ago) + 1;
    return ago < 0 || given.size() < back ? 12345 : given[given.size() - back];
  }

  template <typename Question>
  void remember(const Names& names, Question&& question) {
    agree(question);
    for (const auto& name : names) {
      const auto latest = model_.token(name);
      auto& given = tokens_[name];
      if (latest == 0 || (!given.empty() && given.back() == latest)) continue;
      if (!given.empty()) RC_ASSERT(latest > given.back());
      given.push_back(latest);
    }
  }

  template <typename Question>
  void agree(Question&& question) {
    support::agree_at(act_, model_, sqlite_, postgres_, [&](auto& who) { return std::string(question(who)); });
  }

  LockFamilySubject& sqlite_;
  LockFamilySubject& postgres_;
  std::string prefix_;
  LockFamilyModel model_;
  std::map<std::string, std::vector<Moment>> tokens_;
  Act act_;  ///< the present one
};

TEST(LockFamilyModelTest, ModelSqliteAndPostgresAgreeOnEverySequence) {
  support::expect_agreement<LockFamilySequence, LockFamilySubject>(any_act(), {.length = 0.5});
}

}  // namespace
}  // namespace leasehold::lock_family
