// A real store, asked about sessions, items and claims in the model's words.
#pragma once

#include "model/session_model.h"
#include "support/session_helpers.h"

namespace leasehold::session_model {

class SessionSubject {
 public:
  explicit SessionSubject(support::StoreKind kind) : test_store_(kind), store_(test_store_.open()) {}

  void advance(Moment by) { test_store_.advance(Duration(by)); }
  [[nodiscard]] Moment now() const { return micros(test_store_.now()); }

  /// Takes back what is left of an earlier sequence: that must not be counted later.
  void start_afresh() {
    advance(30LL * 86'400'000'000);
    support::must(store_.recover());
    session_tokens_.clear();
    item_tokens_.clear();
  }

  std::string open(const OpenAsk& ask) {
    SessionOptions options{.id = ask.id, .ttl = Duration(ask.ttl)};
    options.exclusive = ask.exclusive;
    if (ask.max_age) options.max_age = Duration(*ask.max_age);
    options.request_id = ask.request;
    const auto opened = store_.sessions().open(options, support::by("holder"));
    if (!opened && opened.error().code == Errc::held) {
      return "held until " + away(micros(opened.error().held_by->expires_at), now());
    }
    if (!opened) return word(opened.error());
    if (!opened->replayed) session_tokens_[ask.id].push_back(opened->token);
    return kept("opened", *opened);
  }
  std::string heartbeat(const std::string& id, int ago, const BeatAsk& ask) {
    SessionHeartbeat beat;
    if (ask.ttl) beat.ttl = Duration(*ask.ttl);
    if (ask.progress) beat.progress = *ask.progress;
    return extended(store_.sessions().heartbeat(id, session_token(id, ago), beat));
  }
  std::string park(const std::string& id, int ago, Moment silence) {
    return extended(store_.sessions().park(id, session_token(id, ago), Duration(silence)));
  }
  std::string close(const std::string& id, int ago, const std::string& reason) {
    const auto closed = store_.sessions().close(id, session_token(id, ago), reason);
    return closed ? "closed " + said(closed->items) : word(closed.error());
  }
  std::string revoke_session(const std::string& id, const std::string& reason) {
    const auto revoked = store_.sessions().revoke(id, reason);
    return revoked ? "revoked " + said(revoked->items) : word(revoked.error());
  }
  std::string recover() {
    const auto recovered = support::must(store_.recover());
    return say_recovered(recovered.leases, recovered.claims);
  }

  std::string add(const AddAsk& ask) {
    const auto created = store_.items().add(ask.key, {.title = ask.title,
                                                      .parent = ask.parent,
                                                      .conflicts = ask.conflicts,
                                                      .depends_on = ask.depends_on,
                                                      .priority = ask.priority});
    if (!created) return word(created.error());
    return *created ? "created" : "updated";
  }
  std::string done(const std::string& key, Ago ago, const std::string&) {
    return reported(store_.items().done(key, item_token(key, ago)), "done");
  }
  std::string reopen(const std::string& key) { return reported(store_.items().reopen(key), "open"); }
  std::string remove(const std::string& key) { return reported(store_.items().remove(key), "removed"); }

  std::string take(const std::string& key, const std::string& id, Ago ago, bool create) {
    ItemTakeOptions options{.create = create};
    if (ago) options.session_token = session_token(id, *ago);
    return remember(store_.claims().take(key, id, options));
  }
  std::string next(const std::string& id, int ago, const std::string& parent) {
    return remember(store_.claims().next(id, {.session_token = session_token(id, ago), .parent = parent}));
  }
  std::string release(const std::string& key, const std::string& id, int ago, const std::string& reason) {
    return reported(store_.claims().release(key, id, *item_token(key, ago), reason), "released");
  }
  std::string switch_to(const std::string& from, int ago, const std::string& to, bool create) {
    return remember(store_.claims().switch_to(from, *item_token(from, ago), to, {.create = create}));
  }
  std::string transfer(const std::string& key, const std::string& id, Ago ago, const std::string& reason) {
    return remember(store_.claims().transfer(key, id, item_token(key, ago), reason));
  }
  std::string revoke(const std::string& key, const std::string& reason) {
    const auto revoked = store_.claims().revoke(key, reason);
    if (!revoked) return word(revoked.error());
    return "revoked from " + revoked->session + " token " + away(revoked->token.value, now());
  }

  std::string show_session(const std::string& id) {
    const auto info = store_.sessions().show(id);
    if (!info) return word(info.error());
    return say(SeenSession{.state = to_string(info->state),
                           .token = info->token.value,
                           .exclusive = info->exclusive,
                           .ttl = info->ttl.count(),
                           .opened_at = micros(info->opened_at),
                           .heartbeat_at = micros(info->heartbeat_at),
                           .progress_at = micros(info->progress_at),
                           .progress = info->progress,
                           .expires_at = micros(info->expires_at),
                           .parked_until = micros(info->parked_until),
                           .ends_by = micros(info->ends_by),
                           .ended_at = micros(info->ended_at),
                           .end_reason = info->end_reason,
                           .end_detail = info->end_detail,
                           .claims = info->claims,
                           .item = info->item,
                           .item_taken_at = micros(info->item_taken_at)},
               now());
  }
  std::string show_item(const std::string& key) {
    const auto info = store_.items().show(key);
    if (!info) return word(info.error());
    SeenItem seen{.state = to_string(info->state),
                  .active_session = info->session,
                  .token = info->token.value,
                  .title = info->title,
                  .parent = info->parent,
                  .conflicts = info->conflicts,
                  .depends_on = info->depends_on,
                  .priority = info->priority,
                  .done_at = micros(info->done_at),
                  .done_by = info->done_by};
    if (info->held_by) {
      seen.owner = owner(*info->held_by);
      seen.progress_at = micros(info->held_by->progress_at);
    }
    return say(seen, now());
  }
  std::string show_claims(const std::string& key) {
    std::string text;
    for (const auto& claim : support::must(store_.claims().list({.item = key, .ended = true}))) {
      text += say(SeenClaim{.session = claim.session,
                            .token = claim.token.value,
                            .taken_at = micros(claim.taken_at),
                            .ended_at = micros(claim.ended_at),
                            .end_reason = claim.end_reason,
                            .end_detail = claim.end_detail},
                  now()) +
              "; ";
    }
    return text;
  }

 private:
  static Moment micros(Timestamp when) { return when.time_since_epoch().count(); }
  static std::optional<Moment> micros(std::optional<Timestamp> when) {
    return when ? std::optional(micros(*when)) : std::nullopt;
  }
  static Token earlier(const std::vector<Token>& tokens, int ago) {
    const auto back = static_cast<std::size_t>(ago) + 1;
    return ago < 0 || tokens.size() < back ? Token{12345} : tokens[tokens.size() - back];
  }
  Token session_token(const std::string& id, int ago) { return earlier(session_tokens_[id], ago); }
  std::optional<Token> item_token(const std::string& key, Ago ago) {
    return ago ? std::optional(earlier(item_tokens_[key], *ago)) : std::nullopt;
  }

  static Owner owner(const LeaseInfo& info) {
    return {
        .session = info.session, .item = info.key, .token = info.token.value, .expires_at = micros(info.expires_at)};
  }
  /// The problem of a session is for people, so only the message contains it.
  static std::string why_unregistered(const std::string& message) {
    for (const auto* why : {"unknown", "closed", "stale"}) {
      if (message.find(std::string("is ") + why) != std::string::npos) return why;
    }
    return "superseded";
  }
  static std::string word(const Error& error) {
    // To PostgreSQL a claim of a time to come looks like a race that was lost, and here the clock is set back now and
    // then.
    std::string text = to_string(error.code == Errc::race ? Errc::held : error.code);
    if (error.code == Errc::unregistered) text += " " + why_unregistered(error.message);
    if (error.lost_reason) text += std::string(" ") + to_string(*error.lost_reason);
    return text;
  }
  [[nodiscard]] std::string refusal(const Error& error) const {
    return say(word(error), error.held_by ? std::optional(owner(*error.held_by)) : std::nullopt, now());
  }

  [[nodiscard]] std::string kept(const std::string& what, const Grant& grant) const {
    return say(Kept{.word = what,
                    .token = grant.token.value,
                    .ttl = grant.ttl.count(),
                    .expires_at = micros(grant.expires_at),
                    .replayed = grant.replayed},
               now());
  }
  [[nodiscard]] std::string extended(const Result<Grant>& grant) const {
    return grant ? kept("extended", *grant) : word(grant.error());
  }
  [[nodiscard]] std::string reported(const Result<void>& result, const std::string& what) const {
    return result ? what : refusal(result.error());
  }
  std::string remember(const Result<Claim>& claim) {
    if (!claim) return refusal(claim.error());
    if (!claim->replayed) item_tokens_[claim->key].push_back(claim->token);
    return say(Taken{.item = claim->key,
                     .session = claim->session,
                     .token = claim->token.value,
                     .taken_at = micros(claim->taken_at),
                     .expires_at = micros(claim->expires_at),
                     .from = claim->previous_session,
                     .created = claim->created,
                     .replayed = claim->replayed},
               now());
  }

  support::TestStore test_store_;
  Store store_;
  std::map<std::string, std::vector<Token>> session_tokens_;
  std::map<std::string, std::vector<Token>> item_tokens_;
};

}  // namespace leasehold::session_model
