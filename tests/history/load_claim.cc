// Sessions and the items they claim. A session that was lost is followed by a new one with an id of its own.
#include <map>

#include "history/load.h"

namespace leasehold::history {
namespace {

class ClaimActor : public Actor {
 public:
  explicit ClaimActor(Desk& desk) : desk_(desk) {}

  bool act() override {
    if (session_.empty()) return open();
    if (!late_.empty() && desk_.dice.one_in(8)) return release_late();
    const int die = desk_.dice.roll(20);
    if (die < 6) return heartbeat();
    if (die == 6) return close();
    if (items_.empty() || die < 14) return take();
    const auto [item, token] = *items_.begin();
    return release(item, session_, token);
  }

 private:
  bool open() {
    const auto id = desk_.key("session-" + std::to_string(desk_.recorder.process()), ++opened_);
    const auto act = desk_.recorder.begin("session", "open", id, {});
    const auto grant = desk_.store.sessions().open({.id = id, .ttl = desk_.options.ttl}, {.holder = desk_.holder()});
    if (!grant) return refused(act, grant.error());
    Fields reported;
    desk_.recorder.end(act, "ok", add_span(reported.add("token", grant->token.value), *grant));
    session_ = id;
    token_ = grant->token;
    return true;
  }

  bool heartbeat() {
    const auto act = begin_session("heartbeat");
    const auto grant = desk_.store.sessions().heartbeat(session_, token_);
    if (!grant) return session_refused(act, grant.error());
    Fields reported;
    desk_.recorder.end(act, "ok", add_span(reported, *grant));
    return true;
  }

  bool close() {
    const auto act = begin_session("close");
    const auto closed = desk_.store.sessions().close(session_, token_);
    if (!closed) return session_refused(act, closed.error());
    desk_.recorder.end(act, "ok", {});
    forget_session();
    return true;
  }

  bool take() {
    const auto item = desk_.any_key("item");
    const auto act = desk_.recorder.begin("item", "take", item, Fields().add("session", session_));
    const auto claim = desk_.store.claims().take(item, session_, {.create = true});
    if (!claim) {
      if (claim.error().code == Errc::unregistered) forget_session();
      return refused(act, claim.error());
    }
    Fields reported;
    reported.add("token", claim->token.value)
        .add("at", micros(claim->taken_at))
        .add("expires", micros(claim->expires_at));
    desk_.recorder.end(act, "ok", reported.add("replayed", claim->replayed).add("previous", claim->previous_session));
    items_[item] = claim->token;
    return true;
  }

  bool release(const std::string& item, const std::string& session, Token token) {
    const auto asked = Fields().add("session", session).add("token", token.value);
    const auto act = desk_.recorder.begin("item", "release", item, asked);
    const auto released = desk_.store.claims().release(item, session, token);
    if (!released) {
      if (released.error().code == Errc::lost) items_.erase(item);
      return refused(act, released.error());
    }
    desk_.recorder.end(act, "ok", {});
    items_.erase(item);
    return true;
  }

  /// Of a session that is no more.
  bool release_late() {
    const auto [item, claim] = *late_.begin();
    late_.erase(late_.begin());
    const auto asked = Fields().add("session", claim.session).add("token", claim.token.value);
    const auto act = desk_.recorder.begin("item", "release", item, asked);
    const auto released = desk_.store.claims().release(item, claim.session, claim.token);
    if (!released) return refused(act, released.error());
    desk_.recorder.end(act, "ok", {});
    return true;
  }

  std::int64_t begin_session(std::string_view verb) {
    return desk_.recorder.begin("session", verb, session_, Fields().add("token", token_.value));
  }

  bool session_refused(std::int64_t act, const Error& error) {
    if (error.code == Errc::lost) forget_session();
    return refused(act, error);
  }
  bool refused(std::int64_t act, const Error& error) {
    desk_.recorder.end(act, word(error), reported(error));
    return could_ask(error);
  }

  void forget_session() {
    for (const auto& [item, token] : items_) late_[item] = {.session = session_, .token = token};
    items_.clear();
    session_.clear();
  }

  struct LateClaim {
    std::string session;
    Token token;
  };

  Desk& desk_;
  std::int64_t opened_ = 0;
  std::string session_;
  Token token_;
  std::map<std::string, Token> items_;
  std::map<std::string, LateClaim> late_;
};

}  // namespace

std::unique_ptr<Actor> claim_actor(Desk& desk) { return std::make_unique<ClaimActor>(desk); }

}  // namespace leasehold::history
