#include "wire/chunks.h"

#include <algorithm>
#include <boost/json/object.hpp>

#include "wire/json.h"

namespace leasehold::wire {
namespace {

namespace json = boost::json;

std::string cursor_of(const std::optional<std::string>& cursor) { return cursor ? as_it_is(*cursor) : "null"; }

/// Only a chunk that somebody has or had has these.
void put_holding(json::object& out, const ChunkInfo& chunk) {
  out["holder"] = text_or_null(chunk.holder);
  out["host"] = text_or_null(chunk.host);
  out["pid"] = number_or_null(chunk.pid);
  out["tty"] = text_or_null(chunk.tty);
  out["heartbeat_at"] = timestamp_or_null(chunk.heartbeat_at);
  out["expires_at"] = timestamp_or_null(chunk.expires_at);
}

void put_counts(json::object& out, const ChunkSetInfo& set) {
  out["total"] = set.total;
  out["available"] = set.available;
  out["deferred"] = set.deferred;
  out["running"] = set.running;
  out["expired"] = set.expired;
  out["completed"] = set.completed;
  out["skipped"] = set.skipped;
  out["exhausted"] = set.exhausted;
  out["rows"] = set.rows;
  out["attempts"] = set.attempts;
}

void put_settings(json::object& out, const ChunkSetInfo& set) {
  out["failure_budget"] = set.failure_budget;
  out["crash_budget"] = set.crash_budget;
  out["backoff_base_seconds"] = seconds(set.backoff_base);
  out["backoff_most_seconds"] = seconds(set.backoff_most);
  out["default_ttl_seconds"] = seconds(set.default_ttl);
}

}  // namespace

std::string to_json(const Chunk& chunk) {
  const json::object out{{"set", text(chunk.set)},
                         {"key", text(chunk.key)},
                         {"token", chunk.token.value},
                         {"position", chunk.position},
                         {"hash", text(chunk.hash)},
                         {"attempt", chunk.attempt},
                         {"rows", chunk.rows},
                         {"previous_holder", text_or_null(chunk.previous_holder)},
                         {"previous_host", text_or_null(chunk.previous_host)},
                         {"synced_at", timestamp_or_null(chunk.synced_at)}};
  return with_members(render(out), {{"spec", as_it_is(chunk.spec)}, {"cursor", cursor_of(chunk.cursor)}});
}

std::string to_json(const ChunkGrant& grant) {
  std::string chunks;
  for (const auto& chunk : grant.chunks) chunks += (chunks.empty() ? "" : ",") + to_json(chunk);
  const json::object out{{"lease_id", grant.lease_id},
                         {"holder", encode(grant.holder)},
                         {"ttl_seconds", seconds(grant.ttl)},
                         {"expires_at", timestamp(grant.expires_at)},
                         {"trusted_for_seconds", seconds_from_now(grant.trusted_until)},
                         {"alone", grant.alone},
                         {"replayed", grant.replayed}};
  return with_members(render(out), {{"chunks", "[" + chunks + "]"}});
}

std::string to_json(const ChunkInfo& chunk) {
  json::object out{{"set", text(chunk.set)},
                   {"key", text(chunk.key)},
                   {"position", chunk.position},
                   {"state", leasehold::to_string(chunk.state)},
                   {"planner", text(chunk.planner)},
                   {"hash", text(chunk.hash)},
                   {"token", number_or_null(chunk.token.value)},
                   {"attempts", chunk.attempts},
                   {"failures", chunk.failures},
                   {"crashes", chunk.crashes},
                   {"due_at", timestamp_or_null(chunk.due_at)},
                   {"started_at", timestamp_or_null(chunk.started_at)},
                   {"finished_at", timestamp_or_null(chunk.finished_at)},
                   {"synced_at", timestamp_or_null(chunk.synced_at)},
                   {"saved_at", timestamp_or_null(chunk.saved_at)},
                   {"rows", chunk.rows}};
  put_holding(out, chunk);
  out["error"] = text_or_null(chunk.error);
  out["note"] = text_or_null(chunk.note);
  out["store_now"] = timestamp(chunk.store_now);
  return with_members(render(out), {{"spec", as_it_is(chunk.spec)}, {"cursor", cursor_of(chunk.cursor)}});
}

std::string to_json(const ChunkSetInfo& set) {
  json::object out{{"name", text(set.name)},
                   {"state", leasehold::to_string(set.state)},
                   {"summary", text(set.summary())},
                   {"planner", text(set.planner)},
                   {"planned_at", timestamp(set.planned_at)}};
  put_counts(out, set);
  out["started_at"] = timestamp_or_null(set.started_at);
  out["finished_at"] = timestamp_or_null(set.finished_at);
  out["oldest_sync"] = timestamp_or_null(set.oldest_sync);
  out["job_id"] = number_or_null(set.job_id.value_or(0));
  put_settings(out, set);
  out["store_now"] = timestamp(set.store_now);
  return render(out);
}

std::string to_json(std::string_view set, const PlanOutcome& outcome) {
  return render(json::object{{"set", text(set)},
                             {"created", outcome.created},
                             {"added", outcome.added},
                             {"replaced", outcome.replaced},
                             {"removed", outcome.removed},
                             {"kept", outcome.kept},
                             {"differing", outcome.differing},
                             {"left", outcome.left},
                             {"total", outcome.total},
                             {"state", leasehold::to_string(outcome.state)}});
}

std::string to_json(std::string_view set, const ChunkResetOutcome& outcome) {
  return render(json::object{
      {"set", text(set)}, {"reset", outcome.reset}, {"running", outcome.running}, {"missing", outcome.missing}});
}

std::string to_json(std::string_view set, std::string_view key, const ChunkHeartbeat& heartbeat) {
  return render(json::object{{"set", text(set)},
                             {"key", text(key)},
                             {"rows", heartbeat.rows},
                             {"ttl_seconds", seconds(heartbeat.ttl)},
                             {"expires_at", timestamp(heartbeat.expires_at)},
                             {"trusted_for_seconds", seconds_from_now(heartbeat.trusted_until)}});
}

std::string to_json(std::string_view set, std::string_view key, const ChunkSettled& settled) {
  return render(json::object{{"set", text(set)},
                             {"key", text(key)},
                             {"state", leasehold::to_string(settled.state)},
                             {"due_at", timestamp_or_null(settled.due_at)},
                             {"set_state", leasehold::to_string(settled.set_state)},
                             {"replayed", settled.replayed}});
}

std::string to_json(const LimitInfo& limit) {
  return render(json::object{{"name", text(limit.name)},
                             {"every_seconds", seconds(limit.every)},
                             {"burst", limit.burst},
                             {"next_at", timestamp(limit.next_at)},
                             {"taken", limit.taken},
                             {"taken_at", timestamp_or_null(limit.taken_at)},
                             {"holder", text_or_null(limit.holder)},
                             {"host", text_or_null(limit.host)},
                             {"store_now", timestamp(limit.store_now)}});
}

std::string to_json(std::string_view name, const LimitSlot& slot) {
  return render(json::object{{"name", text(name)},
                             {"at", timestamp(slot.at)},
                             {"waited_seconds", seconds(slot.waited)},
                             {"every_seconds", seconds(slot.every)}});
}

}  // namespace leasehold::wire
