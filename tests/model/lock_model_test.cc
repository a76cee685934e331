// Random sequences of operations against the model, SQLite and PostgreSQL: all three must agree, act for act.
//
// RC_PARAMS="seed=..." replays a run; a failing sequence is made small and printed.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "model/agreement.h"
#include "model/lock_model.h"
#include "support/lock_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::model {
namespace {

using support::StoreKind;
using support::TestStore;

enum class Verb { acquire, heartbeat, release, revoke, show, list, advance };

/// One step. Tokens are named by how many grants ago they were given, so that a sequence means the same on
/// every store; -1 is a token that was never granted.
struct Act {
  Verb verb = Verb::show;
  int lock = 0;
  int holder = 0;
  std::int64_t ttl = 0;
  int request = 0;  ///< 0: no request id
  int grants_ago = 0;
  std::int64_t advance = 0;
};

std::ostream& operator<<(std::ostream& out, const Act& act) {
  const auto name = "lock" + std::to_string(act.lock);
  switch (act.verb) {
    case Verb::acquire:
      return out << "\n  acquire " << name << " as holder" << act.holder << " ttl " << act.ttl << " request "
                 << act.request;
    case Verb::heartbeat:
      return out << "\n  heartbeat " << name << " grants_ago " << act.grants_ago << " ttl " << act.ttl;
    case Verb::release: return out << "\n  release " << name << " grants_ago " << act.grants_ago;
    case Verb::revoke: return out << "\n  revoke " << name;
    case Verb::show: return out << "\n  show " << name;
    case Verb::list: return out << "\n  list";
    case Verb::advance: return out << "\n  advance " << act.advance << "us";
  }
  return out;
}

rc::Gen<Act> any_act() {
  using rc::gen::element;
  using rc::gen::inRange;
  const auto verb = rc::gen::weightedElement<Verb>({{6, Verb::acquire},
                                                    {4, Verb::heartbeat},
                                                    {4, Verb::release},
                                                    {1, Verb::revoke},
                                                    {2, Verb::show},
                                                    {1, Verb::list},
                                                    {5, Verb::advance}});
  // The clock often stops exactly at an expiry, or a microsecond before: that is where mistakes live.
  const auto step =
      element<std::int64_t>(0, 1, 999'999, 1'000'000, 5'000'000, 9'999'999, 10'000'000, 60'000'000, -2'000'000);
  return rc::gen::build<Act>(rc::gen::set(&Act::verb, verb), rc::gen::set(&Act::lock, inRange(0, 3)),
                             rc::gen::set(&Act::holder, inRange(0, 3)),
                             rc::gen::set(&Act::ttl, element<std::int64_t>(1'000'000, 5'000'000, 10'000'000)),
                             rc::gen::set(&Act::request, inRange(0, 5)), rc::gen::set(&Act::grants_ago, inRange(-1, 3)),
                             rc::gen::set(&Act::advance, step));
}

Outcome from_error(const Error& error) {
  Outcome outcome{.word = to_string(error.code)};
  if (error.lost_reason) outcome.why = to_string(*error.lost_reason);
  if (error.held_by && error.code != Errc::not_found) {
    outcome.token = error.held_by->token.value;
    outcome.holder = error.held_by->holder.name;
    outcome.expires_at = error.held_by->expires_at.time_since_epoch().count();
  }
  return outcome;
}

Outcome from_grant(const std::string& word, const Result<Grant>& grant) {
  if (!grant) return from_error(grant.error());
  return {.word = word,
          .token = grant->token.value,
          .holder = grant->holder.name,
          .expires_at = grant->expires_at.time_since_epoch().count()};
}

/// Info is a LeaseInfo or a LockInfo.
template <typename Info>
Outcome from_info(const std::string& word, const Result<Info>& info, bool with_state) {
  if (!info) return from_error(info.error());
  return {.word = word,
          .token = info->token.value,
          .holder = info->holder.name,
          .expires_at = info->expires_at.time_since_epoch().count(),
          .state = with_state ? to_string(info->state) : ""};
}

/// A real store, asked in the model's words.
class Subject {
 public:
  explicit Subject(StoreKind kind) : store_(kind), locks_(store_.open().locks()) {}

  void advance(std::int64_t by) { store_.advance(Duration(by)); }
  [[nodiscard]] std::int64_t now() const { return store_.now().time_since_epoch().count(); }

  Outcome acquire(const std::string& name, const std::string& holder, std::int64_t ttl, const std::string& request_id) {
    AcquireOptions options{.ttl = Duration(ttl)};
    options.request_id = request_id;
    return from_grant("granted", locks_.acquire(name, options, support::by(holder)));
  }
  Outcome heartbeat(const std::string& name, std::int64_t token, std::int64_t ttl) {
    return from_grant("extended", locks_.heartbeat(name, {token}, support::unless_zero(Duration(ttl))));
  }
  Outcome release(const std::string& name, std::int64_t token) {
    const auto released = locks_.release(name, {token});
    return released ? Outcome{.word = "released"} : from_error(released.error());
  }
  Outcome revoke(const std::string& name) { return from_info("revoked", locks_.revoke(name, "model"), false); }
  Outcome show(const std::string& name) { return from_info("shown", locks_.show(name), true); }
  std::string list(const std::string& prefix, bool only_held) {
    const auto found = locks_.list({.prefix = prefix, .only_held = only_held});
    std::string text;
    for (const auto& info : found.value()) text += info.key + "=" + to_string(info.state) + " ";
    return text;
  }

 private:
  TestStore store_;
  Locks locks_;
};

/// Runs one sequence on all three. Every sequence has lock names of its own, so that the stores need not be
/// made anew for each.
class Sequence {
 public:
  Sequence(Subject& sqlite, Subject& postgres, int number)
      : sqlite_(sqlite), postgres_(postgres), model_(sqlite.now()), prefix_("run" + std::to_string(number) + "/") {}

  void step(const Act& act) {
    const auto name = prefix_ + "lock" + std::to_string(act.lock);
    switch (act.verb) {
      case Verb::acquire: acquire(act, name); break;
      case Verb::heartbeat: heartbeat(act, name); break;
      case Verb::release: agree(act, [&](auto& it) { return it.release(name, token(name, act.grants_ago)); }); break;
      case Verb::revoke: agree(act, [&](auto& it) { return it.revoke(name); }); break;
      case Verb::show: agree(act, [&](auto& it) { return it.show(name); }); break;
      case Verb::list: list(act.request > 2); break;
      case Verb::advance: advance(act.advance); break;
    }
  }

  void look_at_everything() { list(false); }

 private:
  template <typename Ask>
  Outcome agree(const Act& act, Ask&& ask) {
    return support::agree_at(act, model_, sqlite_, postgres_, ask);
  }

  void acquire(const Act& act, const std::string& name) {
    // A request id that was given before is a replay; of another lock, a mistake that must take nothing.
    const auto request = act.request == 0 ? std::string{} : prefix_ + "request" + std::to_string(act.request);
    const auto holder = "holder" + std::to_string(act.holder);
    const auto outcome = agree(act, [&](auto& it) { return it.acquire(name, holder, act.ttl, request); });
    auto& given = tokens_[name];
    if (outcome.word != "granted" || (!given.empty() && given.back() == outcome.token)) return;
    if (!given.empty()) RC_ASSERT(outcome.token > given.back());
    given.push_back(outcome.token);
  }

  void heartbeat(const Act& act, const std::string& name) {
    const auto ttl = act.request > 2 ? act.ttl : 0;
    agree(act, [&](auto& it) { return it.heartbeat(name, token(name, act.grants_ago), ttl); });
  }

  void list(bool only_held) {
    const auto expected = model_.list(only_held);
    RC_ASSERT(sqlite_.list(prefix_, only_held) == expected);
    RC_ASSERT(postgres_.list(prefix_, only_held) == expected);
  }

  void advance(std::int64_t by) {
    model_.advance(by);
    sqlite_.advance(by);
    postgres_.advance(by);
  }

  std::int64_t token(const std::string& name, int grants_ago) {
    const auto& given = tokens_[name];
    const auto back = static_cast<std::size_t>(grants_ago) + 1;
    return grants_ago < 0 || given.size() < back ? 12345 : given[given.size() - back];
  }

  Subject& sqlite_;
  Subject& postgres_;
  LockModel model_;
  std::string prefix_;
  std::map<std::string, std::vector<std::int64_t>> tokens_;
};

TEST(LockModelTest, ModelSqliteAndPostgresAgreeOnEverySequence) {
  support::expect_agreement<Sequence, Subject>(any_act(), {.sequences = 150, .length = 0.6});
}

}  // namespace
}  // namespace leasehold::model
