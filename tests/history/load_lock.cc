// Locks: acquire, heartbeat, release, and writes of the user's own under the fence.
#include <map>

#include "history/load.h"

namespace leasehold::history {
namespace {

class LockActor : public Actor {
 public:
  explicit LockActor(Desk& desk) : desk_(desk) {}

  bool act() override {
    if (!late_.empty() && desk_.dice.one_in(8)) return act_late();
    if (held_.empty() || desk_.dice.one_in(10)) return acquire();
    auto held = held_.begin();
    std::advance(held, desk_.dice.roll(static_cast<int>(held_.size())));
    const auto [key, token] = *held;
    const int die = desk_.dice.roll(10);
    return die < 5 ? write(key, token) : die < 8 ? heartbeat(key, token) : release(key, token);
  }

 private:
  bool acquire() {
    const auto key = desk_.any_key("lock");
    if (held_.contains(key)) return heartbeat(key, held_[key]);
    const auto act = desk_.recorder.begin("lock", "acquire", key, {});
    const auto grant = desk_.store.locks().acquire(key, {.ttl = desk_.options.ttl}, {.holder = desk_.holder()});
    if (!grant) {
      // An earlier acquire without an answer succeeded: a read shows its token.
      const auto lock = desk_.store.locks().show(key);
      if (grant.error().code == Errc::reentry && lock && lock->state == LeaseState::running &&
          lock->holder.name == desk_.holder().name) {
        held_[key] = lock->token;
      }
      return refused(act, grant.error());
    }
    Fields reported;
    desk_.recorder.end(act, "ok", add_span(reported.add("token", grant->token.value), *grant));
    held_[key] = grant->token;
    return true;
  }

  bool heartbeat(const std::string& key, Token token) {
    const auto act = desk_.recorder.begin("lock", "heartbeat", key, Fields().add("token", token.value));
    const auto grant = desk_.store.locks().heartbeat(key, token);
    if (!grant) return refused(act, grant.error(), key, token);
    Fields reported;
    desk_.recorder.end(act, "ok", add_span(reported, *grant));
    return true;
  }

  bool release(const std::string& key, Token token) {
    const auto act = desk_.recorder.begin("lock", "release", key, Fields().add("token", token.value));
    const auto released = desk_.store.locks().release(key, token);
    if (!released) return refused(act, released.error(), key, token);
    desk_.recorder.end(act, "ok", {});
    give_up(key, token);
    return true;
  }

  bool write(const std::string& key, Token token) {
    const auto act = desk_.recorder.begin("lock", "write", key, Fields().add("token", token.value));
    const auto n =
        desk_.ledger.write({.key = key, .token = token.value, .process = desk_.recorder.process(), .act = act});
    if (!n) return refused(act, n.error(), key, token);
    desk_.recorder.end(act, "ok", Fields().add("n", *n));
    return true;
  }

  /// The acts of a holder that was paused for too long, or did not get the answer to its release.
  bool act_late() {
    const auto [key, token] = *late_.begin();
    if (desk_.dice.one_in(3)) late_.erase(late_.begin());
    const int die = desk_.dice.roll(3);
    return die == 0 ? heartbeat(key, token) : die == 1 ? release(key, token) : write(key, token);
  }

  bool refused(std::int64_t act, const Error& error) {
    desk_.recorder.end(act, word(error), reported(error));
    return could_ask(error);
  }
  bool refused(std::int64_t act, const Error& error, const std::string& key, Token token) {
    if (error.code == Errc::lost) give_up(key, token);
    return refused(act, error);
  }

  void give_up(const std::string& key, Token token) {
    const auto held = held_.find(key);
    if (held == held_.end() || held->second != token) return;
    held_.erase(held);
    late_[key] = token;
  }

  Desk& desk_;
  std::map<std::string, Token> held_;
  std::map<std::string, Token> late_;
};

}  // namespace

std::unique_ptr<Actor> lock_actor(Desk& desk) { return std::make_unique<LockActor>(desk); }

}  // namespace leasehold::history
