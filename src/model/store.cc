// Descriptions of the store, its events and housekeeping.
#include "model/describe.h"

namespace leasehold::model {

Described describe(Type<LeaseFilter>) {
  static constexpr auto fields = fields_of<LeaseFilter>({
      field<&LeaseFilter::kind>("kind").or_null().as_text(),
      field<&LeaseFilter::state>("state"),
      field<&LeaseFilter::held_by>("held_by").or_null().as_text(),
      field<&LeaseFilter::max>("max").at_least_one(),
      field<&LeaseFilter::page>("page").or_null().as_text(),
  });
  static const LeaseFilter fresh;
  return {"LeaseFilter", fields, &fresh};
}

Described describe(Type<EventFilter>) {
  static constexpr auto fields = fields_of<EventFilter>({
      field<&EventFilter::after_id>("after_id"),
      field<&EventFilter::key>("key").or_null().as_text(),
      field<&EventFilter::max>("max").at_least_one(),
      field<&EventFilter::page>("page").or_null().as_text(),
  });
  static const EventFilter fresh;
  return {"EventFilter", fields, &fresh};
}

Described describe(Type<HistoryFilter>) {
  static constexpr auto fields = fields_of<HistoryFilter>({
      field<&HistoryFilter::kind>("kind").or_null().as_text(),
      field<&HistoryFilter::key>("key").or_null().as_text(),
      field<&HistoryFilter::since>("since").as_moment().means("grants that ended before are left out"),
      field<&HistoryFilter::max>("max").at_least_one(),
      field<&HistoryFilter::page>("page").or_null().as_text(),
  });
  static const HistoryFilter fresh;
  return {"HistoryFilter", fields, &fresh};
}

Described describe(Type<GrantInfo>) {
  static constexpr auto fields = fields_of<GrantInfo>({
      field<&GrantInfo::kind>("kind"),
      field<&GrantInfo::key>("key").means("the name, id or key of what was granted; of a chunk `set/key`"),
      field<&GrantInfo::state>("state").means("`running`, `expired`, or `free` once the grant has ended"),
      field<&GrantInfo::holder>("holder"),
      field<&GrantInfo::detail>("detail").or_null().means("the attempt, the session or the permits, in words"),
      field<&GrantInfo::since>("since"),
      field<&GrantInfo::held_until>("until").means("when its lease expires; null once it has ended"),
      field<&GrantInfo::ended_at>("ended_at").means("when it ended; of an expired lease, when it expired"),
      field<&GrantInfo::end_reason>("end_reason").or_null(),
      field<&GrantInfo::end_detail>("end_detail").or_null(),
      field<&GrantInfo::taken_from>("taken_from").means("the holder before, if this grant took the key over from it"),
      field<&GrantInfo::cause>("cause").or_null().means(
          "why it could be taken over: `expired`, `process gone`, `revoked` or `lost`"),
      field<&GrantInfo::gap>("gap_seconds").means("how long no process held the key before this grant"),
  });
  return {"GrantInfo", fields};
}

Described describe(Type<RetentionSettings>) {
  static constexpr auto fields = fields_of<RetentionSettings>({
      field<&RetentionSettings::keep_jobs>("keep_jobs_seconds").from(Duration(0), bounds::max_delay),
      field<&RetentionSettings::keep_failed>("keep_failed_seconds").from(Duration(0), bounds::max_delay),
      field<&RetentionSettings::keep_history>("keep_history_seconds").from(Duration(0), bounds::max_delay),
  });
  static const RetentionSettings fresh;
  return {"RetentionSettings", fields, &fresh};
}

Described describe(Type<Event>) {
  static constexpr auto fields = fields_of<Event>({
      field<&Event::id>("id").means("the number of the event"),
      field<&Event::at>("at"),
      field<&Event::kind>("kind").means(
          "the kind of what changed: `lock`, `job`, `queue`, `chunk`, `chunks`, `session`, `item`, `schedule`"),
      field<&Event::key>("key").means("its name, id or key; of a chunk `set/key`"),
      field<&Event::what>("what").means("what happened: `acquired`, `released`, `expired` and so on"),
      field<&Event::token>("token").is_proof(),
      field<&Event::holder>("holder").means("the process that did it, or that it happened to"),
      field<&Event::previous_holder>("previous_holder"),
      field<&Event::detail>("detail").or_null(),
      field<&Event::metadata>("metadata").as(Kind::json).or_null().means("of a job's event: the metadata of the job"),
      field<&Event::mark>("mark").or_null().means("with `--follow`: resume behind this event with `--resume`"),
  });
  return {"Event", fields};
}

Described describe(Type<StoreStatus>) {
  static constexpr auto fields = fields_of<StoreStatus>({
      field<&StoreStatus::backend>("backend"), field<&StoreStatus::schema_version>("schema_version"),
      field<&StoreStatus::locks>("locks").means("names that were ever held and were not pruned"),
      field<&StoreStatus::waiters>("waiters"), field<&StoreStatus::held_leases>("held_leases"),
      field<&StoreStatus::expired_leases>("expired_leases"), field<&StoreStatus::ended_leases>("ended_leases"),
      field<&StoreStatus::events>("events").means("events that the store keeps"),
      field<&StoreStatus::estimated>("estimated")
          .means("whether `ended_leases` or `events` is an estimate, because there are too many to count"),
      hidden<&StoreStatus::store_now>(),  // the enclosing report ends with it
  });
  return {"StoreStatus", fields};
}

Described describe(Type<Pruned>) {
  static constexpr auto fields = fields_of<Pruned>({
      field<&Pruned::jobs>("jobs").means("finished jobs, with their attempts, results and errors"),
      field<&Pruned::locks>("locks").means("names that no process has held or waited for in that time"),
      field<&Pruned::leases>("leases").means("ended leases, with their request ids"),
      field<&Pruned::events>("events"),
      field<&Pruned::claims>("claims").means("ended claims"),
      field<&Pruned::sessions>("sessions").means("closed sessions, and sessions silent for that long"),
      field<&Pruned::runs>("runs").means("rows of schedule histories"),
      field<&Pruned::shares>("shares"),
      field<&Pruned::places>("places"),
      field<&Pruned::topics>("topics"),
      field<&Pruned::recoveries>("recoveries").means("rows of the statistics of recovery"),
      field<&Pruned::batches>("batches").means("batches that have ended, once their jobs are pruned"),
      field<&Pruned::tokens>("tokens").means("API tokens that expired or were revoked"),
      field<&Pruned::audit>("audit").means("entries of the audit log"),
      field<&Pruned::requests>("requests").means("requests with an id that is not kept any longer"),
  });
  return {"Pruned", fields};
}

Described describe(Type<Retention>) {
  static constexpr auto fields = fields_of<Retention>({
      field<&Retention::keep_jobs>("keep_jobs_seconds")
          .or_null()
          .means("how long completed and cancelled jobs stay; null: forever"),
      field<&Retention::keep_failed>("keep_failed_seconds").or_null().means("how long failed jobs stay; null: forever"),
      field<&Retention::keep_history>("keep_history_seconds")
          .or_null()
          .means("how long events, ended leases and the other history stay; null: forever"),
  });
  return {"Retention", fields};
}

Described describe(Type<Recovered>) {
  static constexpr auto fields = fields_of<Recovered>({
      field<&Recovered::locks>("locks").means("expired leases of locks that were ended"),
      field<&Recovered::leases>("leases").means(
          "expired leases of jobs, chunks, sessions and schedules that were ended"),
      field<&Recovered::jobs>("jobs").means("jobs that went back to their queues"),
      field<&Recovered::chunks>("chunks"),
      field<&Recovered::claims>("claims").means("items of stale sessions that are free again"),
      field<&Recovered::runs>("runs").means("runs of schedules that were lost"),
      field<&Recovered::failed>("failed").means("jobs and chunks that have spent their budget of crashes"),
      field<&Recovered::lapsed>("lapsed").means("jobs that were not started in time, and have ended now"),
      field<&Recovered::unblocked>("unblocked"),
      field<&Recovered::store_now>("at"),
  });
  return {"Recovered", fields};
}

Described describe(Type<RecoveryTotal>) {
  static constexpr auto fields = fields_of<RecoveryTotal>({
      field<&RecoveryTotal::reason>("reason").means(
          "`claim`: a claim took over; `recover`; `process_gone`: the process on this host is dead"),
      field<&RecoveryTotal::times>("times"),
      field<&RecoveryTotal::leases>("leases").means("expired leases that were ended"),
      field<&RecoveryTotal::jobs>("jobs").means("jobs that went back to their queues"),
      field<&RecoveryTotal::chunks>("chunks"),
      field<&RecoveryTotal::claims>("claims"),
      field<&RecoveryTotal::runs>("runs"),
      field<&RecoveryTotal::last_at>("last_at"),
  });
  return {"RecoveryTotal", fields};
}

Described describe(Type<RecoveryStats>) {
  static constexpr auto fields = fields_of<RecoveryStats>({
      field<&RecoveryStats::stale_now>("stale_now"),
      field<&RecoveryStats::totals>("totals"),
  });
  return {"RecoveryStats", fields};
}

Described describe(Type<Finding>) {
  static constexpr auto fields = fields_of<Finding>({
      field<&Finding::level>("level"),
      field<&Finding::what>("what").means("what was found: `synchronous_commit = off`"),
      field<&Finding::advice>("advice").or_null(),
  });
  return {"Finding", fields};
}

Described describe(Type<MigrationInfo>) {
  static constexpr auto fields = fields_of<MigrationInfo>({
      field<&MigrationInfo::version>("version"),
      field<&MigrationInfo::name>("name"),
      field<&MigrationInfo::checksum>("checksum"),
      field<&MigrationInfo::applied_at>("applied_at"),
      field<&MigrationInfo::changed>("changed").means(
          "whether it was applied with a text that differs from the one in this program"),
  });
  return {"MigrationInfo", fields};
}

Described describe(Type<Drift>) {
  static constexpr auto fields = fields_of<Drift>({
      field<&Drift::object>("object"),
      field<&Drift::problem>("problem"),
  });
  return {"Drift", fields};
}

}  // namespace leasehold::model
