// Descriptions of jobs.
#include <limits>

#include "leasehold/limits.h"
#include "model/describe.h"

namespace leasehold::model {
namespace {

/// Only a job that depends on others has a rule for their failure.
constexpr auto if_failed_of = [](const JobInfo& job) {
  return job.depends_on.empty() ? std::nullopt : std::optional(job.if_failed);
};

}  // namespace

Described describe(Type<Backoff>) {
  static constexpr auto fields = fields_of<Backoff>({
      field<&Backoff::base>("base_seconds")
          .from(Duration(0), bounds::max_delay)
          .means("the pause after the first failure"),
      field<&Backoff::max>("max_seconds").from(Duration(0), bounds::max_delay).means("the longest pause"),
      field<&Backoff::exponential>("exponential").means("false: each pause is as long as the first"),
  });
  static const Backoff fresh;
  return {"Backoff", fields, &fresh};
}

Described describe(Type<NewJob>) {
  using Priority = std::numeric_limits<std::int16_t>;
  static constexpr auto fields = fields_of<NewJob>({
      field<&NewJob::payload>("payload").as(Kind::bytes).up_to(bounds::payload_bytes),
      field<&NewJob::priority>("priority").from(Priority::min(), Priority::max()),
      field<&NewJob::delay>("delay_seconds").from(Duration(0), bounds::max_delay),
      field<&NewJob::run_at>("run_at").as_moment(),
      field<&NewJob::dedupe_key>("dedupe_key").or_null().as_name(),
      field<&NewJob::dedupe_mode>("dedupe_mode"),
      field<&NewJob::dedupe_for>("dedupe_for_seconds").from(Duration(0), bounds::max_delay),
      field<&NewJob::group>("group").or_null().as_name(),
      field<&NewJob::timeout>("timeout_seconds").from(bounds::min_timeout, bounds::max_delay),
      field<&NewJob::expires_in>("expires_in_seconds").from(Duration(0), bounds::max_delay),
      field<&NewJob::expires_at>("expires_at").as_moment(),
      field<&NewJob::metadata>("metadata").as_json(bounds::job_metadata_bytes).or_null(),
      field<&NewJob::max_failures>("max_failures").from(1, bounds::max_budget),
      field<&NewJob::max_crashes>("max_crashes").from(1, bounds::max_budget),
      field<&NewJob::backoff>("backoff"),
      field<&NewJob::tags>("tags").as_name().up_to(bounds::max_tags),
      field<&NewJob::depends_on>("depends_on").up_to(bounds::max_predecessors),
      field<&NewJob::if_failed>("if_failed"),
      field<&NewJob::batch>("batch").or_null().as_name(),
      field<&NewJob::on_batch_end>("on_batch_end").or_null().as_name(),
      field<&NewJob::request_id>("request_id").or_null().as_name(),
  });
  static const NewJob fresh;
  return {"NewJob", fields, &fresh};
}

Described describe(Type<Progress>) {
  static constexpr auto fields = fields_of<Progress>({
      field<&Progress::percent>("percent").from(0, 100),
      field<&Progress::message>("message").or_null(),
      field<&Progress::stage>("stage").or_null().as_name().up_to(bounds::stage_bytes),
      field<&Progress::cursor>("cursor").as_json(bounds::chunk_json_bytes),
  });
  static const Progress fresh;
  return {"Progress", fields, &fresh};
}

Described describe(Type<JobClaimOptions>) {
  static constexpr auto fields = fields_of<JobClaimOptions>({
      field<&JobClaimOptions::max>("max").from(1, bounds::max_claim),
      field<&JobClaimOptions::ttl>("ttl_seconds").from(bounds::min_ttl, bounds::max_ttl),
      field<&JobClaimOptions::timeout>("timeout_seconds").from(bounds::min_timeout, bounds::max_delay),
      field<&JobClaimOptions::wait>("wait_seconds").from(Duration(0), Duration::max()),
      field<&JobClaimOptions::request_id>("request_id").or_null().as_name(),
  });
  static const JobClaimOptions fresh;
  return {"JobClaimOptions", fields, &fresh};
}

Described describe(Type<JobFilter>) {
  static constexpr auto fields = fields_of<JobFilter>({
      field<&JobFilter::queue>("queue").or_null().as_text(),
      field<&JobFilter::state>("state"),
      field<&JobFilter::tag>("tag").or_null().as_text(),
      field<&JobFilter::batch>("batch").or_null().as_text(),
      field<&JobFilter::group>("group").or_null().as_text(),
      field<&JobFilter::dedupe_key>("dedupe_key").or_null().as_text(),
      field<&JobFilter::enqueued_after>("enqueued_after").as_moment(),
      field<&JobFilter::enqueued_before>("enqueued_before").as_moment(),
      field<&JobFilter::max>("max").at_least_one(),
      field<&JobFilter::page>("page").or_null().as_text(),
  });
  static const JobFilter fresh;
  return {"JobFilter", fields, &fresh};
}

Described describe(Type<JobBulk>) {
  static constexpr auto fields = fields_of<JobBulk>({
      field<&JobBulk::action>("action").needed(),
      inlined<&JobBulk::filter>(),
      field<&JobBulk::reason>("reason").or_null().as_text(),
      field<&JobBulk::preview>("preview"),
  });
  static const JobBulk fresh;
  return {"JobBulk", fields, &fresh};
}

Described describe(Type<JobsFound>) {
  static constexpr auto fields = fields_of<JobsFound>({
      field<&JobsFound::items>("items").means("the jobs that contain the text, the newest first"),
      field<&JobsFound::next>("next").means("the `page` to ask for next; null: this was the last"),
      field<&JobsFound::scanned>("scanned"),
      field<&JobsFound::oldest_scanned_at>("oldest_scanned_at"),
      field<&JobsFound::complete>("complete"),
  });
  return {"JobsFound", fields};
}

Described describe(Type<JobsChanged>) {
  static constexpr auto fields = fields_of<JobsChanged>({
      field<&JobsChanged::matched>("matched"),
      field<&JobsChanged::changed>("changed").means("how many were cancelled or told to stop, retried, or removed"),
      field<&JobsChanged::skipped>("skipped").means(
          "how many could not be changed: their state is another by now, or another job is in the way"),
      field<&JobsChanged::next>("next").means("the `page` to ask for next; null: this was the last"),
  });
  return {"JobsChanged", fields};
}

Described describe(Type<JobErrorFilter>) {
  static constexpr auto fields = fields_of<JobErrorFilter>({
      field<&JobErrorFilter::queue>("queue").or_null().as_text(),
      field<&JobErrorFilter::max>("max").at_least_one(),
      field<&JobErrorFilter::page>("page").or_null().as_text(),
  });
  static const JobErrorFilter fresh;
  return {"JobErrorFilter", fields, &fresh};
}

Described describe(Type<Enqueued>) {
  static constexpr auto fields = fields_of<Enqueued>({
      field<&Enqueued::id>("id").means("the job's id"),
      field<&Enqueued::created>("created").means("false: the dedupe key was taken, and `id` is the job that has it"),
      field<&Enqueued::updated>("updated").means("true: that job was changed, as `dedupe_mode` says"),
      field<&Enqueued::state>("state"),
  });
  return {"Enqueued", fields};
}

Described describe(Type<Job>) {
  static constexpr auto fields = fields_of<Job>({
      field<&Job::id>("id").means("the job's id"),
      field<&Job::token>("token"),
      field<&Job::queue>("queue"),
      field<&Job::priority>("priority"),
      field<&Job::attempt>("attempt"),
      field<&Job::created_at>("created_at"),
      field<&Job::schedule>("schedule").or_null(),
      field<&Job::occurrence>("occurrence"),
      field<&Job::group>("group").or_null(),
      field<&Job::batch>("batch").or_null(),
      field<&Job::metadata>("metadata").as(Kind::json).or_null(),
      field<&Job::cursor>("cursor").as(Kind::json).or_null(),
      field<&Job::timeout>("timeout_seconds"),
      field<&Job::payload>("payload").as(Kind::bytes),
  });
  return {"Job", fields};
}

Described describe(Type<JobGrant>) {
  static constexpr auto fields = fields_of<JobGrant>({
      field<&JobGrant::jobs>("jobs").means("the claimed jobs, under one lease and one token"),
      field<&JobGrant::token>("token"),
      field<&JobGrant::lease_id>("lease_id"),
      field<&JobGrant::holder>("holder"),
      field<&JobGrant::ttl>("ttl_seconds"),
      field<&JobGrant::expires_at>("until"),
      field<&JobGrant::trusted_until>("trusted_for_seconds"),
      field<&JobGrant::solo>("solo"),
      field<&JobGrant::replayed>("replayed"),
  });
  return {"JobGrant", fields};
}

Described describe(Type<JobHeartbeat>) {
  static constexpr auto fields = fields_of<JobHeartbeat>({
      field<&JobHeartbeat::id>("id").means("the job's id"),
      field<&JobHeartbeat::ttl>("ttl_seconds"),
      field<&JobHeartbeat::expires_at>("until"),
      field<&JobHeartbeat::trusted_until>("trusted_for_seconds"),
      field<&JobHeartbeat::cancel_requested>("cancel_requested"),
  });
  return {"JobHeartbeat", fields};
}

Described describe(Type<JobSettled>) {
  static constexpr auto fields = fields_of<JobSettled>({
      field<&JobSettled::id>("id").means("the job's id"),
      field<&JobSettled::state>("state"),
      field<&JobSettled::due_at>("due_at"),
      field<&JobSettled::replayed>("replayed"),
  });
  return {"JobSettled", fields};
}

Described describe(Type<JobAttempt>) {
  static constexpr auto fields = fields_of<JobAttempt>({
      field<&JobAttempt::number>("number"),
      field<&JobAttempt::token>("token").is_proof(),
      field<&JobAttempt::outcome>("outcome"),
      field<&JobAttempt::holder>("holder"),
      field<&JobAttempt::started_at>("started_at"),
      field<&JobAttempt::ended_at>("ended_at"),
      field<&JobAttempt::error>("error").or_null(),
  });
  return {"JobAttempt", fields};
}

Described describe(Type<Predecessor>) {
  static constexpr auto fields = fields_of<Predecessor>({
      field<&Predecessor::id>("id").means("the job's id"),
      field<&Predecessor::state>("state"),
  });
  return {"Predecessor", fields};
}

Described describe(Type<JobWait>) {
  static constexpr auto fields = fields_of<JobWait>({
      field<&JobWait::reason>("reason").means("why the job is not running"),
      field<&JobWait::text>("text"),
      field<&JobWait::job_id>("job_id").means("the job in the way"),
      field<&JobWait::until>("until").means("when that may change at the latest, if the store knows"),
  });
  return {"JobWait", fields};
}

Described describe(Type<BatchInfo>) {
  static constexpr auto fields = fields_of<BatchInfo>({
      field<&BatchInfo::id>("id").means("the batch, as its jobs name it"),
      field<&BatchInfo::total>("total").means("how many jobs it has had, pruned ones included"),
      field<&BatchInfo::unfinished>("unfinished").means("how many have not ended"),
      field<&BatchInfo::completed>("completed"),
      field<&BatchInfo::failed>("failed"),
      field<&BatchInfo::cancelled>("cancelled").means("how many were cancelled, or removed before they ended"),
      field<&BatchInfo::lapsed>("lapsed").means("how many were not started in time"),
      field<&BatchInfo::created_at>("created_at"),
      field<&BatchInfo::ended_at>("ended_at"),
      field<&BatchInfo::end_job>("end_job").means("the job that runs when all have ended"),
      field<&BatchInfo::store_now>("store_now"),
  });
  return {"BatchInfo", fields};
}

Described describe(Type<JobInfo>) {
  static constexpr auto fields = fields_of<JobInfo>({
      field<&JobInfo::id>("id").means("the job's id"),
      field<&JobInfo::queue>("queue"),
      field<&JobInfo::state>("state"),
      field<&JobInfo::priority>("priority"),
      field<&JobInfo::created_at>("created_at"),
      field<&JobInfo::due_at>("due_at"),
      field<&JobInfo::finished_at>("finished_at"),
      field<&JobInfo::token>("token").is_proof(),
      field<&JobInfo::attempts>("attempts"),
      field<&JobInfo::failures>("failures"),
      field<&JobInfo::max_failures>("max_failures"),
      field<&JobInfo::crashes>("crashes"),
      field<&JobInfo::max_crashes>("max_crashes"),
      field<&JobInfo::holder>("holder"),
      field<&JobInfo::heartbeat_at>("heartbeat_at"),
      field<&JobInfo::held_until>("until"),
      field<&JobInfo::percent>("percent"),
      field<&JobInfo::message>("message").means("the progress in words, as the holder reported it").or_null(),
      field<&JobInfo::stage>("stage").or_null(),
      field<&JobInfo::cancel_requested>("cancel_requested"),
      field<&JobInfo::wait>("wait"),
      field<&JobInfo::dedupe_key>("dedupe_key").or_null(),
      field<&JobInfo::group>("group").or_null(),
      field<&JobInfo::timeout>("timeout_seconds"),
      field<&JobInfo::times_out_at>("times_out_at"),
      field<&JobInfo::expires_at>("expires_at"),
      field<&JobInfo::metadata>("metadata").as(Kind::json).or_null(),
      field<&JobInfo::cursor>("cursor").as(Kind::json).or_null(),
      field<&JobInfo::batch>("batch").or_null(),
      field<&JobInfo::on_batch_end>("on_batch_end").or_null(),
      field<&JobInfo::schedule>("schedule").or_null(),
      field<&JobInfo::occurrence>("occurrence"),
      field<&JobInfo::tags>("tags"),
      field<&JobInfo::depends_on>("depends_on"),
      field<&JobInfo::waits_for>("waits_for"),
      field<if_failed_of>("if_failed"),
      hidden<&JobInfo::if_failed>(),
      field<&JobInfo::error>("error").or_null(),
      field<&JobInfo::store_now>("store_now"),
  });
  return {"JobInfo", fields};
}

Described describe(Type<JobError>) {
  static constexpr auto fields = fields_of<JobError>({
      field<&JobError::id>("id").means("the job's id"),
      field<&JobError::queue>("queue"),
      field<&JobError::token>("token").is_proof(),
      field<&JobError::at>("at"),
      field<&JobError::outcome>("outcome"),
      field<&JobError::holder>("holder"),
      field<&JobError::error>("error"),
  });
  return {"JobError", fields};
}

}  // namespace leasehold::model
