// The words in which the model of sessions and the stores are compared: what an act gave, as one line of text.
//
// Times and tokens are written as their distance from now: a token is what the clock says, unless the last one of its
// key was that great already.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/job_model_words.h"

namespace leasehold::session_model {

using model::away;
using model::Moment;
using Words = std::vector<std::string>;

inline std::string said(const Words& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  return "[" + text + "]";
}

/// A session that was opened or kept up.
struct Kept {
  std::string word;  ///< opened, extended
  Moment token = 0;
  Moment ttl = 0;
  Moment expires_at = 0;
  bool replayed = false;
};

inline std::string say(const Kept& kept, Moment now) {
  return kept.word + " token " + away(kept.token, now) + " ttl " + std::to_string(kept.ttl) + " until " +
         away(kept.expires_at, now) + (kept.replayed ? " again" : "");
}

/// An item that was taken, switched to or handed over.
struct Taken {
  std::string item;
  std::string session;
  Moment token = 0;
  Moment taken_at = 0;
  Moment expires_at = 0;
  std::string from{};  ///< whose it was
  bool created = false;
  bool replayed = false;
};

inline std::string say(const Taken& taken, Moment now) {
  return taken.item + " is of " + taken.session + " token " + away(taken.token, now) + " since " +
         away(taken.taken_at, now) + " until " + away(taken.expires_at, now) + " from '" + taken.from + "'" +
         (taken.created ? " new" : "") + (taken.replayed ? " again" : "");
}

/// The owner that a refusal names.
struct Owner {
  std::string session;
  std::string item;
  Moment token = 0;
  Moment expires_at = 0;
};

inline std::string say(const std::string& refusal, const std::optional<Owner>& owner, Moment now) {
  if (!owner) return refusal;
  return refusal + ": " + owner->item + " is of " + owner->session + " token " +
         (owner->token == 0 ? "-" : away(owner->token, now)) + " until " + away(owner->expires_at, now);
}

/// A session as one sees it.
struct SeenSession {
  std::string state;
  Moment token = 0;
  bool exclusive = false;
  Moment ttl = 0;
  Moment opened_at = 0;
  Moment heartbeat_at = 0;
  Moment progress_at = 0;
  std::string progress{};
  Moment expires_at = 0;
  std::optional<Moment> parked_until{};
  std::optional<Moment> ends_by{};
  std::optional<Moment> ended_at{};
  std::string end_reason{};
  std::string end_detail{};
  std::int64_t claims = 0;
  std::string item{};
  std::optional<Moment> item_taken_at{};
};

inline std::string say(const SeenSession& session, Moment now) {
  return session.state + " token " + away(session.token, now) + (session.exclusive ? " exclusive" : "") + " ttl " +
         std::to_string(session.ttl) + " opened " + away(session.opened_at, now) + " heartbeat " +
         away(session.heartbeat_at, now) + " progress " + away(session.progress_at, now) + " '" + session.progress +
         "' expires " + away(session.expires_at, now) + " parked " + away(session.parked_until, now) + " ends by " +
         away(session.ends_by, now) + " ended " + away(session.ended_at, now) + " " + session.end_reason + " '" +
         session.end_detail + "' claims " + std::to_string(session.claims) + " latest '" + session.item + "' " +
         away(session.item_taken_at, now);
}

/// An item as one sees it.
struct SeenItem {
  std::string state;
  std::string active_session{};
  Moment token = 0;
  std::string title{};
  std::string parent{};
  Words conflicts{};
  Words depends_on{};
  int priority = 0;
  std::optional<Moment> done_at{};
  std::string done_by{};
  std::optional<Owner> owner{};
  std::optional<Moment> progress_at{};
};

inline std::string say(const SeenItem& item, Moment now) {
  return say(item.state + " by '" + item.active_session + "' token " + (item.token == 0 ? "-" : away(item.token, now)) +
                 " '" + item.title + "' below '" + item.parent + "' conflicts " + said(item.conflicts) +
                 " depends on " + said(item.depends_on) + " priority " + std::to_string(item.priority) + " done " +
                 away(item.done_at, now) + " by '" + item.done_by + "' progress " + away(item.progress_at, now),
             item.owner, now);
}

/// One claim of an item's history.
struct SeenClaim {
  std::string session;
  Moment token = 0;
  Moment taken_at = 0;
  std::optional<Moment> ended_at{};
  std::string end_reason{};
  std::string end_detail{};
};

inline std::string say(const SeenClaim& claim, Moment now) {
  return claim.session + " token " + away(claim.token, now) + " taken " + away(claim.taken_at, now) + " ended " +
         away(claim.ended_at, now) + " " + claim.end_reason + " '" + claim.end_detail + "'";
}

inline std::string say_recovered(std::int64_t sessions, std::int64_t claims) {
  return "recovered sessions " + std::to_string(sessions) + " claims " + std::to_string(claims);
}

}  // namespace leasehold::session_model
