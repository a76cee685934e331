#include "wire/jobs.h"

#include <algorithm>

#include "wire/json.h"
#include "wire/wire.h"

namespace leasehold::wire {
namespace {

namespace json = boost::json;

template <typename T>
json::value or_null(const std::optional<T>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

json::value seconds_or_null(Duration span) { return span == Duration(0) ? json::value(nullptr) : seconds(span); }

json::object encode(const Job& job) {
  json::object out{{"id", job.id},
                   {"token", job.token.value},
                   {"queue", text(job.queue)},
                   {"priority", job.priority},
                   {"attempt", job.attempt},
                   {"created_at", timestamp(job.created_at)}};
  put_bytes(out, "payload", job.payload);
  return out;
}

json::object encode(const JobAttempt& attempt) {
  return {{"number", attempt.number},
          {"token", attempt.token.value},
          {"outcome", text(attempt.outcome)},
          {"holder", text_or_null(attempt.holder)},
          {"host", text_or_null(attempt.host)},
          {"pid", number_or_null(attempt.pid)},
          {"started_at", timestamp(attempt.started_at)},
          {"ended_at", timestamp_or_null(attempt.ended_at)},
          {"error", text_or_null(attempt.error)}};
}

void put_counters(json::object& out, const JobInfo& job) {
  out["attempts"] = job.attempts;
  out["failures"] = job.failures;
  out["failure_budget"] = job.failure_budget;
  out["crashes"] = job.crashes;
  out["crash_budget"] = job.crash_budget;
}

/// What only a job that is held has.
void put_holding(json::object& out, const JobInfo& job) {
  out["holder"] = text_or_null(job.holder);
  out["host"] = text_or_null(job.host);
  out["pid"] = number_or_null(job.pid);
  out["heartbeat_at"] = timestamp_or_null(job.heartbeat_at);
  out["expires_at"] = timestamp_or_null(job.expires_at);
  out["percent"] = or_null(job.percent);
  out["message"] = text_or_null(job.message);
  out["stage"] = text_or_null(job.stage);
  out["cancel_requested"] = job.cancel_requested;
}

json::object encode(const JobInfo& job) {
  json::object out{{"id", job.id},
                   {"queue", text(job.queue)},
                   {"state", leasehold::to_string(job.state)},
                   {"priority", job.priority},
                   {"created_at", timestamp(job.created_at)},
                   {"due_at", timestamp_or_null(job.due_at)},
                   {"finished_at", timestamp_or_null(job.finished_at)},
                   {"token", number_or_null(job.token.value)}};
  put_counters(out, job);
  put_holding(out, job);
  out["dedupe_key"] = text_or_null(job.dedupe_key);
  out["limit_key"] = text_or_null(job.limit_key);
  out["tags"] = texts(job.tags);
  out["after"] = json::array(job.after.begin(), job.after.end());
  out["error"] = text_or_null(job.error);
  out["store_now"] = timestamp(job.store_now);
  return out;
}

json::object encode(const QueueInfo& queue) {
  return {{"name", text(queue.name)},
          {"paused", queue.paused},
          {"pause_reason", text_or_null(queue.pause_reason)},
          {"max_running", number_or_null(queue.max_running)},
          {"max_per_key", number_or_null(queue.max_per_key)},
          {"rate_count", number_or_null(queue.rate_count)},
          {"rate_period_seconds", seconds_or_null(queue.rate_period)},
          {"default_ttl_seconds", seconds_or_null(queue.default_ttl)},
          {"available", queue.available},
          {"deferred", queue.deferred},
          {"blocked", queue.blocked},
          {"running", queue.running},
          {"expired", queue.expired},
          {"failed", queue.failed},
          {"oldest_at", timestamp_or_null(queue.oldest_at)},
          {"next_due_at", timestamp_or_null(queue.next_due_at)},
          {"completed_last_minute", queue.completed_last_minute},
          {"failed_last_minute", queue.failed_last_minute},
          {"store_now", timestamp(queue.store_now)}};
}

json::object encode(const Recovered& recovered) {
  return {{"locks", recovered.locks},   {"leases", recovered.leases},       {"jobs", recovered.jobs},
          {"chunks", recovered.chunks}, {"claims", recovered.claims},       {"runs", recovered.runs},
          {"failed", recovered.failed}, {"unblocked", recovered.unblocked}, {"at", timestamp(recovered.store_now)}};
}

json::object encode(const RecoveryTotal& total) {
  return {{"reason", text(total.reason)}, {"times", total.times},
          {"leases", total.leases},       {"jobs", total.jobs},
          {"chunks", total.chunks},       {"claims", total.claims},
          {"runs", total.runs},           {"last_at", timestamp_or_null(total.last_at)}};
}

}  // namespace

json::array encode(const std::vector<QueueInfo>& queues) {
  json::array out;
  for (const auto& queue : queues) out.push_back(encode(queue));
  return out;
}

json::object encode(const RecoveryStats& recovery) {
  json::array totals;
  for (const auto& total : recovery.totals) totals.push_back(encode(total));
  return {{"stale_now", encode(recovery.stale_now)}, {"totals", std::move(totals)}};
}

std::string to_json(const Enqueued& enqueued) {
  return render(json::object{
      {"id", enqueued.id}, {"created", enqueued.created}, {"state", leasehold::to_string(enqueued.state)}});
}

std::string to_json(const JobGrant& grant) {
  json::array jobs;
  for (const auto& job : grant.jobs) jobs.push_back(encode(job));
  return render(json::object{{"jobs", std::move(jobs)},
                             {"token", grant.token.value},
                             {"lease_id", grant.lease_id},
                             {"holder", encode(grant.holder)},
                             {"ttl_seconds", seconds(grant.ttl)},
                             {"expires_at", timestamp(grant.expires_at)},
                             {"trusted_for_seconds", seconds_from_now(grant.trusted_until)},
                             {"alone", grant.alone},
                             {"replayed", grant.replayed}});
}

std::string to_json(const JobInfo& job) { return render(encode(job)); }

std::string to_json(const JobError& error) {
  return render(json::object{{"id", error.id},
                             {"queue", text(error.queue)},
                             {"token", error.token.value},
                             {"at", timestamp(error.at)},
                             {"outcome", text(error.outcome)},
                             {"holder", text_or_null(error.holder)},
                             {"error", text(error.error)}});
}

std::string to_json(const QueueInfo& queue) { return render(encode(queue)); }

std::string to_json(const Recovered& recovered) { return render(encode(recovered)); }

std::string to_json(JobId id, const JobHeartbeat& heartbeat) {
  return render(json::object{{"id", id},
                             {"ttl_seconds", seconds(heartbeat.ttl)},
                             {"expires_at", timestamp(heartbeat.expires_at)},
                             {"trusted_for_seconds", seconds_from_now(heartbeat.trusted_until)},
                             {"cancel_requested", heartbeat.cancel_requested}});
}

std::string to_json(JobId id, const Settled& settled) {
  return render(json::object{{"id", id},
                             {"state", leasehold::to_string(settled.state)},
                             {"due_at", timestamp_or_null(settled.due_at)},
                             {"replayed", settled.replayed}});
}

std::string to_json(const JobStory& story) {
  auto out = encode(story.job);
  json::array history;
  for (const auto& attempt : story.attempts) history.push_back(encode(attempt));
  out["history"] = std::move(history);
  put_bytes(out, "payload", story.payload);
  if (story.result) put_bytes(out, "result", *story.result);
  return render(out);
}

}  // namespace leasehold::wire
