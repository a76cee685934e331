// The model's backlog: added, done, open again, removed.
#pragma once

#include "model/session_model.h"

namespace leasehold::session_model {

/// Whether one of these is the item, or depends on it.
inline bool SessionModel::leads_to(const Words& from, const std::string& key) {
  return std::any_of(from.begin(), from.end(), [&](const std::string& next) {
    if (next == key) return true;
    const auto* its = item(next);
    return its != nullptr && leads_to({its->needs.begin(), its->needs.end()}, key);
  });
}

inline std::string SessionModel::waits_for(const std::string& key) {
  for (const auto& needed : items_.at(key).needs) {
    if (!items_.at(needed).done_at) return needed;
  }
  return "";
}

inline std::string SessionModel::add(const AddAsk& ask) {
  const auto parent = ask.parent.value_or("");
  const auto conflicts = ask.conflicts.value_or(Words{});
  const bool with_itself = std::find(conflicts.begin(), conflicts.end(), ask.key) != conflicts.end();
  if (parent == ask.key || with_itself) return "invalid_argument";
  for (auto next = parent; item(next) != nullptr; next = item(next)->parent) {
    if (next == ask.key) return "invalid_argument";
  }
  if (!parent.empty() && item(parent) == nullptr) return "not_found";
  const auto needs = ask.depends_on.value_or(Words{});
  if (leads_to(needs, ask.key)) return "invalid_argument";
  for (const auto& other : conflicts) {
    if (item(other) == nullptr) return "not_found";
  }
  for (const auto& other : needs) {
    if (item(other) == nullptr) return "not_found";
  }
  const bool created = item(ask.key) == nullptr;
  auto& it = items_[ask.key];
  if (created) it.created_at = now_;
  if (ask.priority) it.priority = *ask.priority;
  if (ask.depends_on) it.needs = {needs.begin(), needs.end()};
  if (ask.title) it.title = *ask.title;
  if (ask.parent) it.parent = parent;
  if (ask.conflicts) {
    for (const auto& other : it.conflicts) items_[other].conflicts.erase(ask.key);
    it.conflicts = {conflicts.begin(), conflicts.end()};
    for (const auto& other : it.conflicts) items_[other].conflicts.insert(ask.key);
  }
  return created ? "created" : "updated";
}

inline std::string SessionModel::done(const std::string& key, Ago ago, const std::string& holder) {
  auto* it = item(key);
  if (it == nullptr) return "not_found";
  const auto token = ago ? std::optional(earlier(item_tokens_[key], *ago)) : std::nullopt;
  if (it->done_at) return !token || *token == it->token ? "done" : lost(key, *token);
  auto* held = active(key);
  if (token && (held == nullptr || held->token != *token)) return lost(key, *token);
  if (!token && alive(held)) return refuse("held", held);
  if (token) held->end("completed", "", now_);
  if (!token && held != nullptr) end(held->opening, "expired", "");
  it->done_at = now_;
  it->done_by = token ? opening(held->opening).session : holder;
  return "done";
}

inline std::string SessionModel::reopen(const std::string& key) {
  auto* it = item(key);
  if (it == nullptr) return "not_found";
  it->done_at.reset();
  it->done_by.clear();
  return "open";
}

inline std::string SessionModel::remove(const std::string& key) {
  const auto* it = item(key);
  if (it == nullptr) return "not_found";
  const auto* held = active(key);
  if (alive(held)) return refuse("held", held);
  const bool has_children =
      std::any_of(items_.begin(), items_.end(), [&](auto& other) { return other.second.parent == key; });
  if (has_children) return "busy";
  if (held != nullptr) end(held->opening, "expired", "");
  for (const auto& other : it->conflicts) items_[other].conflicts.erase(key);
  for (auto& [other, its] : items_) its.needs.erase(key);
  items_.erase(key);
  std::erase_if(claims_, [&](const ModelClaim& claim) { return claim.item == key; });
  return "removed";
}

inline std::string SessionModel::show_item(const std::string& key) {
  const auto* it = item(key);
  if (it == nullptr) return "not_found";
  const auto* held = active(key);
  const bool worked_on = alive(held);
  SeenItem seen{.state = it->done_at               ? "done"
                         : worked_on               ? "claimed"
                         : !waits_for(key).empty() ? "blocked"
                         : held != nullptr         ? "stale"
                                                   : "open",
                .token = it->token,
                .title = it->title,
                .parent = it->parent,
                .conflicts = {it->conflicts.begin(), it->conflicts.end()},
                .depends_on = {it->needs.begin(), it->needs.end()},
                .priority = it->priority,
                .done_at = it->done_at,
                .done_by = it->done_by};
  if (held != nullptr) {
    if (worked_on) seen.active_session = opening(held->opening).session;
    seen.owner = owner(*held);
    seen.progress_at = opening(held->opening).progress_at;
  }
  return say(seen, now_);
}

}  // namespace leasehold::session_model
