// What sessions, items and claims promise, in C++: no database, no concurrency, time is a number.
#pragma once

#include "model/session_model_state.h"

namespace leasehold::session_model {

/// An act names a token by how many were given for that key after it; -1: one that never was; unset: none.
using Ago = std::optional<int>;

class SessionModel {
 public:
  explicit SessionModel(Moment now) : now_(now) {}

  void advance(Moment by) { now_ += by; }

  std::string open(const OpenAsk& ask);
  std::string heartbeat(const std::string& id, int ago, const BeatAsk& ask);
  std::string park(const std::string& id, int ago, Moment silence);
  std::string close(const std::string& id, int ago, const std::string& reason);
  std::string revoke_session(const std::string& id, const std::string& reason);
  std::string recover();
  std::string show_session(const std::string& id);

  std::string add(const AddAsk& ask);
  std::string done(const std::string& key, Ago ago, const std::string& holder);
  std::string reopen(const std::string& key);
  std::string remove(const std::string& key);
  std::string show_item(const std::string& key);

  std::string take(const std::string& key, const std::string& session, Ago ago, bool create);
  std::string next(const std::string& session, int ago, const std::string& parent);
  std::string release(const std::string& key, const std::string& session, int ago, const std::string& reason);
  std::string switch_to(const std::string& from, int ago, const std::string& to, bool create);
  std::string transfer(const std::string& key, const std::string& session, Ago ago, const std::string& reason);
  std::string revoke(const std::string& key, const std::string& reason);
  std::string show_claims(const std::string& key);

 private:
  static constexpr Moment never_given = 12345;
  static Moment earlier(const std::vector<Moment>& tokens, int ago) {
    const auto back = static_cast<std::size_t>(ago) + 1;
    return ago < 0 || tokens.size() < back ? never_given : tokens[tokens.size() - back];
  }

  /// The session's latest opening.
  Opening* session(const std::string& id) {
    const auto found = latest_.find(id);
    return found == latest_.end() ? nullptr : &opening(found->second);
  }
  Opening& opening(int number) { return openings_[static_cast<std::size_t>(number)]; }
  ModelItem* item(const std::string& key) {
    const auto found = items_.find(key);
    return found == items_.end() ? nullptr : &found->second;
  }
  ModelClaim* active(const std::string& key) {
    return find_claim([&](const ModelClaim& claim) { return claim.active() && claim.item == key; });
  }
  ModelClaim* claim(const std::string& key, Moment token) {
    return find_claim([&](const ModelClaim& claim) { return claim.item == key && claim.token == token; });
  }
  template <typename Rule>
  ModelClaim* find_claim(Rule&& rule) {
    const auto found = std::find_if(claims_.begin(), claims_.end(), rule);
    return found == claims_.end() ? nullptr : &*found;
  }
  bool alive(const ModelClaim* claim) { return claim != nullptr && opening(claim->opening).live(now_); }

  Owner owner(const ModelClaim& claim) {
    const auto& of = opening(claim.opening);
    return {.session = of.session, .item = claim.item, .token = claim.token, .expires_at = of.expires_at};
  }
  /// Shows the owner, and never its token.
  std::string refuse(const std::string& word, const ModelClaim* by = nullptr) {
    auto reported = by == nullptr ? std::nullopt : std::optional(owner(*by));
    if (reported) reported->token = 0;
    return say(word, reported, now_);
  }
  /// The holder of this token does not have the item any more.
  std::string lost(const std::string& key, Moment token) {
    const auto* held = claim(key, token);
    const bool current = held != nullptr && token == item(key)->token;
    return refuse("lost " + (current ? loss(held->end_reason) : "superseded"), active(key));
  }

  /// Ends an opening with all its claims. Their items.
  Words end(int number, const std::string& reason, const std::string& detail) {
    Words items;
    opening(number).end(reason, detail, now_);
    for (auto& claim : claims_) {
      if (claim.opening != number || !claim.active()) continue;
      claim.end(reason, detail, now_);
      items.push_back(claim.item);
    }
    std::sort(items.begin(), items.end());
    return items;
  }

  std::string replayed_open(const Opening* latest, const std::string& request);
  std::string unfit(const std::string& session, Ago ago);
  bool leads_to(const Words& from, const std::string& key);
  /// The first item that this one depends on and that is not done; empty: none.
  std::string waits_for(const std::string& key);
  bool is_free(int caller, const std::string& key);
  std::string none_left(int caller, const Words& children);
  std::string obstacle(int caller, const std::string& key, const std::string& leaving, int giving);
  ModelClaim* blocker(int caller, const std::string& key, int giving);
  std::string acquire(int caller, const std::string& key, bool create, const std::string& leaving);
  std::string grant(int caller, const std::string& key, const std::string& from, bool created);
  std::string reported(const ModelClaim& claim, bool replayed);

  Moment now_;
  std::vector<Opening> openings_;
  std::map<std::string, int> latest_;
  std::map<std::string, std::vector<Moment>> session_tokens_;
  std::map<std::string, ModelItem> items_;
  std::vector<ModelClaim> claims_;
  std::map<std::string, std::vector<Moment>> item_tokens_;
};

}  // namespace leasehold::session_model

#include "model/session_model_claim.h"
#include "model/session_model_item.h"
#include "model/session_model_session.h"
