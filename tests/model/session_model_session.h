// The model's sessions: opened, kept up, ended.
#pragma once

#include "model/session_model.h"

namespace leasehold::session_model {

/// A request id that was used before: the first answer again, or lost.
inline std::string SessionModel::replayed_open(const Opening* latest, const std::string& request) {
  if (latest == nullptr || latest->request != request) return "lost superseded";
  if (!latest->live(now_)) return "lost " + loss(latest->end_reason);
  return say(Kept{.word = "opened",
                  .token = latest->token,
                  .ttl = latest->ttl,
                  .expires_at = latest->expires_at,
                  .replayed = true},
             now_);
}

inline std::string SessionModel::open(const OpenAsk& ask) {
  const auto* before = session(ask.id);
  const bool asked_before = !ask.request.empty() && std::any_of(openings_.begin(), openings_.end(), [&](auto& each) {
    return each.request == ask.request;
  });
  if (asked_before) return replayed_open(before, ask.request);
  if (before != nullptr && before->live(now_)) return "held until " + away(before->expires_at, now_);
  if (before != nullptr && !before->ended_at) end(latest_[ask.id], "expired", "");
  Opening fresh{.session = ask.id,
                .token = std::max(before == nullptr ? 0 : before->token + 1, now_),
                .ttl = ask.ttl,
                .opened_at = now_,
                .request = ask.request,
                .exclusive = ask.exclusive};
  if (ask.max_age) fresh.ends_by = now_ + *ask.max_age;
  fresh.work(now_);
  fresh.extend(now_);
  latest_[ask.id] = static_cast<int>(openings_.size());
  openings_.push_back(fresh);
  session_tokens_[ask.id].push_back(fresh.token);
  return say(Kept{.word = "opened", .token = fresh.token, .ttl = fresh.ttl, .expires_at = fresh.expires_at}, now_);
}

inline std::string SessionModel::heartbeat(const std::string& id, int ago, const BeatAsk& ask) {
  auto* held = session(id);
  if (held == nullptr) return "not_found";
  if (held->token != earlier(session_tokens_[id], ago)) return "lost superseded";
  if (!held->live(now_)) return "lost " + loss(held->end_reason);
  if (ask.ttl) held->ttl = *ask.ttl;
  if (ask.progress) {
    held->work(now_);
    held->progress = *ask.progress;
  }
  held->extend(now_);
  return say(Kept{.word = "extended", .token = held->token, .ttl = held->ttl, .expires_at = held->expires_at}, now_);
}

inline std::string SessionModel::park(const std::string& id, int ago, Moment silence) {
  auto* held = session(id);
  if (held == nullptr) return "not_found";
  if (held->token != earlier(session_tokens_[id], ago)) return "lost superseded";
  if (!held->live(now_)) return "lost " + loss(held->end_reason);
  held->parked_until = silence > 0 ? std::optional(now_ + silence) : std::nullopt;
  held->extend(now_);
  return say(Kept{.word = "extended", .token = held->token, .ttl = held->ttl, .expires_at = held->expires_at}, now_);
}

inline std::string SessionModel::close(const std::string& id, int ago, const std::string& reason) {
  auto* held = session(id);
  if (held == nullptr) return "not_found";
  if (held->token != earlier(session_tokens_[id], ago)) return "lost superseded";
  if (!held->ended_at) return "closed " + said(end(latest_[id], "released", reason));
  if (held->end_reason != "released") return "lost " + loss(held->end_reason);
  Words items;
  for (const auto& claim : claims_) {
    const bool with_it = claim.opening == latest_[id] && claim.ended_at == held->ended_at;
    if (with_it && claim.end_reason == "released") items.push_back(claim.item);
  }
  std::sort(items.begin(), items.end());
  // Given up and taken again within the same instant, it may be there twice; it is reported once.
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return "closed " + said(items);
}

inline std::string SessionModel::revoke_session(const std::string& id, const std::string& reason) {
  const auto* held = session(id);
  if (held == nullptr || held->ended_at) return "not_found";
  return "revoked " + said(end(latest_[id], "revoked", reason));
}

inline std::string SessionModel::recover() {
  std::int64_t sessions = 0;
  std::int64_t claims = 0;
  for (int number = 0; number < static_cast<int>(openings_.size()); ++number) {
    if (opening(number).ended_at || opening(number).live(now_)) continue;
    ++sessions;
    claims += static_cast<std::int64_t>(end(number, "expired", "").size());
  }
  return say_recovered(sessions, claims);
}

inline std::string SessionModel::show_session(const std::string& id) {
  const auto* seen = session(id);
  if (seen == nullptr) return "not_found";
  SeenSession reported{.state = seen->status(now_),
                       .token = seen->token,
                       .exclusive = seen->exclusive,
                       .ttl = seen->ttl,
                       .opened_at = seen->opened_at,
                       .heartbeat_at = seen->heartbeat_at,
                       .progress_at = seen->progress_at,
                       .progress = seen->progress,
                       .expires_at = seen->expires_at,
                       .parked_until = seen->parked_until,
                       .ends_by = seen->ends_by,
                       .ended_at = seen->ended_at,
                       .end_reason = seen->end_reason,
                       .end_detail = seen->end_detail};
  for (const auto& claim : claims_) {
    if (claim.opening != latest_[id] || !claim.active()) continue;
    ++reported.claims;
    const bool later = !reported.item_taken_at || claim.taken_at > *reported.item_taken_at;
    if (!later && !(claim.taken_at == *reported.item_taken_at && claim.item < reported.item)) continue;
    reported.item = claim.item;
    reported.item_taken_at = claim.taken_at;
  }
  return say(reported, now_);
}

}  // namespace leasehold::session_model
