#include "wire/sessions.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "wire/json.h"
#include "wire/leases.h"

namespace leasehold::wire {
namespace {

namespace json = boost::json;

/// A process of this host that is gone makes its session stale before its time; what is closed does not become it.
json::value until_stale(const SessionInfo& session) {
  if (session.status == SessionStatus::released) return nullptr;
  if (session.status == SessionStatus::stale) return seconds(std::min(session.until_stale(), Duration::zero()));
  return seconds(session.until_stale());
}

void put_liveness(json::object& out, const SessionInfo& session) {
  out["stale_after_seconds"] = seconds(session.ttl);
  out["opened_at"] = timestamp(session.opened_at);
  out["heartbeat_at"] = timestamp(session.heartbeat_at);
  put_age(out, "heartbeat", session.heartbeat_age());
  out["heartbeat_age_minutes"] = minutes(session.heartbeat_age());
  out["progress_at"] = timestamp(session.progress_at);
  put_age(out, "progress", session.progress_age());
  out["progress_age_minutes"] = minutes(session.progress_age());
  out["progress"] = text_or_null(session.progress);
  out["expires_at"] = timestamp(session.expires_at);
  out["seconds_until_stale"] = until_stale(session);
  out["parked_until"] = timestamp_or_null(session.parked_until);
  out["ends_by"] = timestamp_or_null(session.ends_by);
}

void put_end(json::object& out, const std::optional<Timestamp>& ended_at, const std::string& reason,
             const std::string& detail) {
  out["ended_at"] = timestamp_or_null(ended_at);
  out["end_reason"] = text_or_null(reason);
  out["end_detail"] = text_or_null(detail);
}

/// The item it took last, of those it has.
void put_latest_claim(json::object& out, const SessionInfo& session) {
  out["claims"] = session.claims;
  out["item"] = text_or_null(session.item);
  out["item_taken_at"] = timestamp_or_null(session.item_taken_at);
  const auto taken_at = session.item_taken_at;
  out["claim_duration_minutes"] = taken_at ? minutes(session.store_now - *taken_at) : json::value(nullptr);
}

}  // namespace

std::string to_json(const SessionInfo& session) {
  json::object out{{"id", text(session.id)},       {"computed_status", leasehold::to_string(session.status)},
                   {"token", session.token.value}, {"holder", encode(session.holder)},
                   {"label", text(session.label)}, {"codebase", text(session.codebase)},
                   {"track", text(session.track)}, {"exclusive", session.exclusive}};
  put_liveness(out, session);
  put_end(out, session.ended_at, session.end_reason, session.end_detail);
  put_latest_claim(out, session);
  out["store_now"] = timestamp(session.store_now);
  return with_members(render(out), {{"metadata", as_it_is(session.metadata)}});
}

std::string to_json(const ItemInfo& item) {
  json::object out{{"key", text(item.key)},
                   {"title", text(item.title)},
                   {"parent", text_or_null(item.parent)},
                   {"conflicts", texts(item.conflicts)},
                   {"state", leasehold::to_string(item.state)},
                   {"is_working_on", item.is_working_on},
                   {"active_session_id", text_or_null(item.active_session_id)},
                   {"token", number_or_null(item.token.value)},
                   {"created_at", timestamp(item.created_at)},
                   {"done_at", timestamp_or_null(item.done_at)},
                   {"done_by", text_or_null(item.done_by)},
                   {"owner", item.owner ? json::value(encode(*item.owner)) : json::value(nullptr)},
                   {"store_now", timestamp(item.store_now)}};
  return with_members(render(out), {{"metadata", as_it_is(item.metadata)}});
}

std::string to_json(const Claim& claim) {
  return render(json::object{{"item", text(claim.item)},
                             {"token", claim.token.value},
                             {"session", text(claim.session)},
                             {"taken_at", timestamp(claim.taken_at)},
                             {"expires_at", timestamp(claim.expires_at)},
                             {"previous_session", text_or_null(claim.previous_session)},
                             {"previous_holder", text_or_null(claim.previous_holder)},
                             {"created", claim.created},
                             {"replayed", claim.replayed}});
}

std::string to_json(const ClaimInfo& claim) {
  json::object out{{"item", text(claim.item)},
                   {"title", text(claim.title)},
                   {"token", claim.token.value},
                   {"session", text(claim.session)},
                   {"active", claim.active},
                   {"taken_at", timestamp(claim.taken_at)},
                   {"claim_duration_minutes", minutes(claim.ended_at.value_or(claim.store_now) - claim.taken_at)}};
  put_end(out, claim.ended_at, claim.end_reason, claim.end_detail);
  out["owner"] = encode(claim.owner);
  out["store_now"] = timestamp(claim.store_now);
  return render(out);
}

std::string to_json(std::string_view id, const SessionClosed& closed) {
  return render(json::object{{"id", text(id)}, {"items", texts(closed.items)}});
}

}  // namespace leasehold::wire
