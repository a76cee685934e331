// Random sequences of what happens to sessions, items and claims, against the model, SQLite and PostgreSQL: all three
// must agree, act for act, and after every act about what became of the session and the items.
//
// RC_PARAMS="seed=..." replays a run; a failing sequence is made small and printed.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "model/agreement.h"
#include "model/session_model.h"
#include "model/session_model_acts.h"
#include "model/session_model_subject.h"

namespace leasehold::session_model {
namespace {

using support::StoreKind;

constexpr int session_count = 4;
/// The last one is never added by itself.
constexpr int item_count = 6;

/// Runs one sequence on all three. Every sequence has names of its own, so that the stores need not be made anew.
class SessionSequence {
 public:
  SessionSequence(SessionSubject& sqlite, SessionSubject& postgres, int number)
      : sqlite_(sqlite), postgres_(postgres), model_(start(sqlite, postgres)), prefix_("run" + std::to_string(number)) {
    // Without anybody to do anything, and anything to be done, little happens.
    for (int i = 0; i < session_count - 1; ++i) step({.verb = Verb::open, .session = i, .choice = 1});
    for (int i = 0; i < item_count - 1; ++i) step({.verb = Verb::add, .item = i, .choice = 7});
  }

  void step(const Act& act) {
    act_ = act;
    act_on_sessions(act) || act_on_items(act) || act_on_claims(act);
    agree([&](auto& it) { return it.show_session(session(act.session)); });
    agree([&](auto& it) { return it.show_item(item(act.item)); });
    agree([&](auto& it) { return it.show_item(item(act.other)); });
  }

  /// Everything again: an act may have changed others, too.
  void look_at_everything() {
    for (int i = 0; i < session_count; ++i) agree([&](auto& it) { return it.show_session(session(i)); });
    for (int i = 0; i < item_count; ++i) {
      agree([&](auto& it) { return it.show_item(item(i)); });
      agree([&](auto& it) { return it.show_claims(item(i)); });
    }
  }

 private:
  static Moment start(SessionSubject& sqlite, SessionSubject& postgres) {
    sqlite.start_afresh();
    postgres.start_afresh();
    return sqlite.now();
  }

  bool act_on_sessions(const Act& act) {
    const auto id = session(act.session);
    const auto note = "note " + std::to_string(act.bits);
    switch (act.verb) {
      case Verb::open: agree([&](auto& it) { return it.open(open_of(act)); }); return true;
      case Verb::heartbeat:
      case Verb::progress: agree([&](auto& it) { return it.heartbeat(id, act.ago, beat_of(act)); }); return true;
      case Verb::park:
        agree([&](auto& it) { return it.park(id, act.ago, std::max<Moment>(act.span, 0)); });
        return true;
      case Verb::close:
        agree([&](auto& it) { return it.close(id, act.ago, act.choice == 0 ? "" : note); });
        return true;
      case Verb::revoke_session: agree([&](auto& it) { return it.revoke_session(id, note); }); return true;
      case Verb::recover: agree([&](auto& it) { return it.recover(); }); return true;
      case Verb::advance:
        model_.advance(act.span);
        sqlite_.advance(act.span);
        postgres_.advance(act.span);
        return true;
      default: return false;
    }
  }

  bool act_on_items(const Act& act) {
    const auto key = item(act.item);
    switch (act.verb) {
      case Verb::add: agree([&](auto& it) { return it.add(add_of(act)); }); return true;
      case Verb::done: agree([&](auto& it) { return it.done(key, ago_of(act), self_); }); return true;
      case Verb::reopen: agree([&](auto& it) { return it.reopen(key); }); return true;
      case Verb::remove: agree([&](auto& it) { return it.remove(key); }); return true;
      default: return false;
    }
  }

  bool act_on_claims(const Act& act) {
    const auto id = session(act.session);
    const auto key = item(act.item);
    const auto note = "note " + std::to_string(act.bits);
    const bool create = act.choice == 7;
    switch (act.verb) {
      case Verb::take: agree([&](auto& it) { return it.take(key, id, ago_of(act), create); }); break;
      case Verb::next:
        agree([&](auto& it) { return it.next(id, act.ago, item(act.other)); });
        for (int i = 0; i < item_count; ++i) agree([&](auto& it) { return it.show_item(item(i)); });
        break;
      case Verb::release: agree([&](auto& it) { return it.release(key, owner_or(id, act), act.ago, note); }); break;
      case Verb::switch_to: agree([&](auto& it) { return it.switch_to(key, act.ago, item(act.other), create); }); break;
      case Verb::transfer:
        agree([&](auto& it) { return it.transfer(key, id, ago_of(act), act.bits % 2 == 0 ? "" : note); });
        break;
      case Verb::revoke: agree([&](auto& it) { return it.revoke(key, note); }); break;
      default: return false;
    }
    if (act.verb == Verb::take || act.verb == Verb::transfer) asked_last_[act.item] = id;
    agree([&](auto& it) { return it.show_claims(key); });
    return true;
  }

  [[nodiscard]] OpenAsk open_of(const Act& act) const {
    OpenAsk ask{.id = session(act.session), .ttl = ttl(act), .exclusive = act.bits % 4 == 3};
    if (act.bits % 8 == 2) ask.max_age = 7'000'000;
    if (act.choice > 5) ask.request = prefix_ + "/request" + std::to_string(act.bits % 3);
    return ask;
  }
  static BeatAsk beat_of(const Act& act) {
    BeatAsk ask;
    if (act.choice == 0) ask.ttl = 5'000'000;
    if (act.verb == Verb::progress) ask.progress = act.choice == 1 ? "" : "step " + std::to_string(act.bits);
    return ask;
  }
  [[nodiscard]] AddAsk add_of(const Act& act) const {
    AddAsk ask{.key = item(act.item)};
    if (act.choice < 2) ask.title = "title " + std::to_string(act.bits);
    if (act.choice == 1 || act.choice == 2 || act.choice == 3) ask.parent = item(act.other);
    if (act.choice == 4) ask.parent = "";
    if (act.choice > 2 && act.choice < 7) ask.conflicts = conflicts_of(act);
    if (act.choice == 2 || act.choice == 7) ask.depends_on = needs_of(act);
    if (act.bits % 3 == 0) ask.priority = act.bits % 4;
    return ask;
  }
  /// A bit for each item.
  [[nodiscard]] Words conflicts_of(const Act& act) const {
    Words conflicts;
    for (int i = 0; i < item_count; ++i) {
      if ((act.bits >> i & 1) == 1 && (act.bits >> 6 & 1) == 1) conflicts.push_back(item(i));
    }
    return conflicts;
  }
  [[nodiscard]] Words needs_of(const Act& act) const {
    if (act.choice == 7) return {};
    return {item(act.bits % item_count)};
  }
  static Ago ago_of(const Act& act) { return act.choice < 3 ? Ago() : Ago(act.ago); }
  static Moment ttl(const Act& act) { return act.choice % 2 == 0 ? 5'000'000 : 10'000'000; }

  [[nodiscard]] std::string session(int number) const { return prefix_ + "/s" + std::to_string(number); }
  [[nodiscard]] std::string item(int number) const { return prefix_ + "/item" + std::to_string(number); }
  /// A release names the claim's session: mostly the one that took the item last, because a random name is rarely
  /// right.
  [[nodiscard]] std::string owner_or(const std::string& id, const Act& act) const {
    const auto found = asked_last_.find(act.item);
    return act.choice == 0 || found == asked_last_.end() ? id : found->second;
  }

  template <typename Question>
  void agree(Question&& question) {
    support::agree_at(act_, model_, sqlite_, postgres_, [&](auto& who) { return std::string(question(who)); });
  }

  SessionSubject& sqlite_;
  SessionSubject& postgres_;
  SessionModel model_;
  std::string prefix_;
  std::string self_ = Holder::self().name;
  std::map<int, std::string> asked_last_;  ///< for which item
  Act act_;                                ///< the present one
};

TEST(SessionModelTest, ModelSqliteAndPostgresAgreeOnEverySequence) {
  support::expect_agreement<SessionSequence, SessionSubject>(any_act());
}

}  // namespace
}  // namespace leasehold::session_model
