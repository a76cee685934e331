// Descriptions of the numbers of a store.
#include "model/describe.h"

namespace leasehold::model {

Described describe(Type<StoreCount>) {
  static constexpr auto fields = fields_of<StoreCount>({
      field<&StoreCount::kind>("kind").or_null().if_any().means(
          "of leases: `lock`, `job`, `chunk`, `session`, `item`, `path`, `schedule` or `row`"),
      field<&StoreCount::queue>("queue").or_null().if_any().means("its queue; `other`: all beyond the first 200"),
      field<&StoreCount::set>("set").or_null().if_any().means("its chunk set; `other`: all beyond the first 200"),
      field<&StoreCount::schedule>("schedule")
          .or_null()
          .if_any()
          .means("its schedule; `other`: all beyond the first 200"),
      field<&StoreCount::state>("state").or_null().if_any().means("the state: `running`, `expired`, `available` ..."),
      field<&StoreCount::cause>("cause").or_null().if_any().means(
          "why a lease was taken over: `expired`, `process_gone` or `timed_out`"),
      field<&StoreCount::reason>("reason").or_null().if_any().means(
          "why leases ended: `released`, `completed`, `failed`, `expired`, `process_gone`, `revoked`, `closed` ..."),
      field<&StoreCount::outcome>("outcome").or_null().if_any().means(
          "how it ended: `completed`, `failed`, `cancelled`, `lapsed` ..."),
      field<&StoreCount::count>("count").means("how many there are, or were"),
  });
  return {"StoreCount", fields};
}

Described describe(Type<StoreSpan>) {
  static constexpr auto fields = fields_of<StoreSpan>({
      field<&StoreSpan::queue>("queue").or_null().if_any().means("its queue; `other`: all beyond the first 200"),
      field<&StoreSpan::schedule>("schedule")
          .or_null()
          .if_any()
          .means("its schedule; `other`: all beyond the first 200"),
      field<&StoreSpan::span>("seconds").means("how long"),
  });
  return {"StoreSpan", fields};
}

Described describe(Type<StoreHistogram>) {
  static constexpr auto fields = fields_of<StoreHistogram>({
      field<&StoreHistogram::queue>("queue").means("its queue; `other`: all beyond the first 200"),
      field<&StoreHistogram::count>("count").means("how many were measured"),
      field<&StoreHistogram::sum>("sum_seconds").means("all of them together"),
      field<&StoreHistogram::buckets>("buckets").means(
          "how many took up to 0.1 s, 1 s, 10 s, 1 min, 10 min, 1 h, and longer"),
  });
  return {"StoreHistogram", fields};
}

Described describe(Type<StoreMetrics>) {
  static constexpr auto fields = fields_of<StoreMetrics>({
      field<&StoreMetrics::leases>("leases").means("what is held now, by kind and state"),
      field<&StoreMetrics::jobs>("jobs").means("unfinished, failed and lapsed jobs, by queue and state"),
      field<&StoreMetrics::oldest_waiting>("oldest_waiting").means("the age of the oldest available job, by queue"),
      field<&StoreMetrics::workers>("workers").means("open workers that listen to it, by queue"),
      field<&StoreMetrics::chunks>("chunks").means("chunks by set and state"),
      field<&StoreMetrics::sessions>("sessions").means("open sessions by state"),
      field<&StoreMetrics::schedule_lag>("schedule_lag").means("for how long the next run has been due, by schedule"),
      field<&StoreMetrics::grants>("grants").means("leases that were granted, by kind; of jobs, attempts that ended"),
      field<&StoreMetrics::takeovers>("takeovers")
          .means("leases that the store took from their holders, by kind and cause"),
      field<&StoreMetrics::ended>("ended").means("leases that ended, by kind and reason"),
      field<&StoreMetrics::attempts>("attempts").means("attempts of jobs that ended, by queue and outcome"),
      field<&StoreMetrics::finished>("finished").means("jobs that finished, by queue and outcome"),
      field<&StoreMetrics::schedule_runs>("schedule_runs").means("occurrences, by schedule and outcome"),
      field<&StoreMetrics::waits>("waits").means("times from the enqueue to the first claim, by queue"),
      field<&StoreMetrics::runs>("runs").means("times from the claim to the end of an attempt, by queue"),
      field<&StoreMetrics::store_now>("store_now"),
  });
  return {"StoreMetrics", fields};
}

}  // namespace leasehold::model
