// The model's heartbeats and verdicts: by the holder, late, twice, or by another caller.
#pragma once

#include "model/job_model.h"

namespace leasehold::model {

inline Moment JobModel::token_of(const ModelJob& job, int ago) const {
  const auto back = index(ago) + 1;
  return ago < 0 || job.tokens.size() < back ? 12345 : job.tokens[job.tokens.size() - back];
}

inline bool JobModel::taken_over(const Entry& own) const {
  if (own.outcome == "cancelled") return own.lease >= 0 && leases_[index(own.lease)].end_reason == "expired";
  return own.outcome == "expired" || own.outcome == "returned";
}

inline std::string JobModel::lost(const ModelJob& job, Moment token) const {
  const auto* own = job.settled(token);
  const bool granted = job.place == Place::granted;
  const bool latest = granted ? job.tokens.back() == token : !job.log.empty() && job.log.back().token == token;
  const int lease = granted ? job.lease : job.log.empty() ? -1 : job.log.back().lease;
  const std::string why = own != nullptr && own->timed_out     ? "timed_out"
                          : own != nullptr && taken_over(*own) ? "expired"
                          : !latest                            ? "superseded"
                          : own == nullptr                     ? "expired"
                                                               : "finished";
  return "lost " + why + (lease < 0 ? "" : " to " + leases_[index(lease)].holder);
}

inline std::string JobModel::heartbeat(int id, int ago, Moment ttl, const std::string& stage,
                                       const std::string& cursor) {
  if (!exists(id)) return "not_found";
  auto& job = at(id);
  const auto token = token_of(job, ago);
  Taken taken;
  if (overdue(job) && job.tokens.back() == token) time_out(job, taken);
  if (job.place != Place::granted || job.tokens.back() != token || !lease_of(job).live(now_)) return lost(job, token);
  auto& lease = leases_[index(job.lease)];
  if (ttl > 0) lease.ttl = ttl;
  lease.expires_at = now_ + lease.ttl;
  if (!lease.of_worker && held_by(job.lease).size() == 1 && job.limit) {
    lease.expires_at = std::min(lease.expires_at, *job.limit);
  }
  if (!stage.empty()) {
    job.stage = stage;
    job.stage_token = token;
  }
  if (!cursor.empty()) job.cursor = cursor;
  return "extended until " + away(lease.expires_at, now_) + (job.unwanted ? " unwanted" : "");
}

inline std::string JobModel::settle(int id, int ago, const Verdict& verdict) {
  if (!exists(id)) return "not_found";
  auto& job = at(id);
  const auto token = token_of(job, ago);
  if (job.place == Place::granted && job.tokens.back() == token) return apply(id, verdict);
  const auto* own = job.settled(token);
  const auto said = verdict.word == "complete"  ? "completed"
                    : verdict.word == "fail"    ? "failed"
                    : verdict.word == "release" ? "released"
                                                : "snoozed";
  const bool honoured =
      own != nullptr && own->outcome == "cancelled" && verdict.word != "complete" && !taken_over(*own);
  if (own == nullptr || (own->outcome != said && !honoured)) return lost(job, token);
  if (own->final) return own->outcome + " due - again";
  const bool deferred = job.place == Place::deferred && job.token == token;
  return deferred ? "deferred due " + away(job.due_at, now_) + " again" : "available due - again";
}

inline std::string JobModel::settle(const std::vector<Spoken>& all, const Verdict& verdict) {
  std::string answers;
  for (const auto& one : all) answers += settle(one.job, one.ago, verdict) + "; ";
  return answers;
}

inline std::string JobModel::hand_in(int id, int ago, const Verdict& verdict, const Ask& ask) {
  const auto settled = settle(id, ago, verdict);
  return settled + ", next " + claim(ask);
}

inline std::string JobModel::apply(int id, const Verdict& verdict) {
  auto& job = at(id);
  const auto token = job.tokens.back();
  const int lease = job.lease;
  const bool unwanted = job.unwanted && verdict.word != "complete";
  const bool dead =
      verdict.word == "fail" && (!verdict.retryable || job.count("failed") + 1 >= job.request.max_failures);
  job.solo = false;
  if (verdict.word == "complete") {
    note(job, "completed", true, lease, token);
    unblock(id);
  } else if (unwanted) {
    note(job, "cancelled", true, lease, token);
  } else if (dead) {
    note(job, "failed", true, lease, token);
  } else {
    const int doublings = std::min(job.count("failed"), 29);
    const Moment pause = verdict.word == "release" ? 0
                         : verdict.delay           ? *verdict.delay
                                                   : std::min(backoff_base << doublings, backoff_max);
    const auto* outcome = verdict.word == "fail" ? "failed" : verdict.word == "release" ? "released" : "snoozed";
    note(job, outcome, false, lease, token);
    job.due_at = now_ + pause;
    put(job);
  }
  // A lease that a claim has opened ends with its last job.
  auto& held = leases_[index(lease)];
  if (!held.of_worker && held_by(lease).empty()) held.end_reason = "completed";
  // Where it is now; that it lapses there is for a later act to record.
  const auto state = job.place == Place::final ? job.state(now_, leases_)
                     : job.due_at > now_       ? std::string("deferred")
                                               : std::string("available");
  return state + " due " + (state == "deferred" ? away(job.due_at, now_) : "-");
}

}  // namespace leasehold::model
