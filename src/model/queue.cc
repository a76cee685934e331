// Descriptions of queues and workers.
#include "leasehold/limits.h"
#include "model/describe.h"

namespace leasehold::model {

Described describe(Type<QueueSettings>) {
  constexpr auto max = std::numeric_limits<int>::max();
  static constexpr auto fields = fields_of<QueueSettings>({
      field<&QueueSettings::max_running>("max_running").from(0, max),
      field<&QueueSettings::max_per_group>("max_per_group").from(0, max),
      field<&QueueSettings::rate_count>("rate_count").from(0, max),
      field<&QueueSettings::rate_period>("rate_period_seconds").from(Duration(0), bounds::max_delay),
      field<&QueueSettings::default_ttl>("default_ttl_seconds"),
      field<&QueueSettings::timeout>("timeout_seconds"),
  });
  static const QueueSettings fresh;
  return {"QueueSettings", fields, &fresh};
}

Described describe(Type<WorkerInfo>) {
  static constexpr auto fields = fields_of<WorkerInfo>({
      field<&WorkerInfo::lease_id>("lease_id"),
      field<&WorkerInfo::holder>("holder"),
      field<&WorkerInfo::queues>("queues").means("the queues that it listens to"),
      field<&WorkerInfo::concurrency>("concurrency"),
      field<&WorkerInfo::running>("running").means("how many jobs it holds, those that it has not started included"),
      field<&WorkerInfo::since>("since"),
      field<&WorkerInfo::heartbeat_at>("heartbeat_at"),
      field<&WorkerInfo::held_until>("until"),
      field<&WorkerInfo::store_now>("store_now"),
  });
  return {"WorkerInfo", fields};
}

Described describe(Type<QueueInfo>) {
  static constexpr auto fields = fields_of<QueueInfo>({
      field<&QueueInfo::name>("name"),
      field<&QueueInfo::paused>("paused"),
      field<&QueueInfo::pause_reason>("pause_reason").or_null(),
      field<&QueueInfo::max_running>("max_running").or_null(),
      field<&QueueInfo::max_per_group>("max_per_group").or_null(),
      field<&QueueInfo::rate_count>("rate_count").or_null(),
      field<&QueueInfo::rate_period>("rate_period_seconds").or_null(),
      field<&QueueInfo::default_ttl>("default_ttl_seconds").or_null(),
      field<&QueueInfo::timeout>("timeout_seconds").or_null(),
      field<&QueueInfo::available>("available"),
      field<&QueueInfo::deferred>("deferred"),
      field<&QueueInfo::blocked>("blocked"),
      field<&QueueInfo::running>("running"),
      field<&QueueInfo::expired>("expired"),
      field<&QueueInfo::failed>("failed"),
      field<&QueueInfo::lapsed>("lapsed").means("jobs that were not started in time"),
      field<&QueueInfo::oldest_at>("oldest_at"),
      field<&QueueInfo::next_due_at>("next_due_at"),
      field<&QueueInfo::completed_last_minute>("completed_last_minute"),
      field<&QueueInfo::failed_last_minute>("failed_last_minute"),
      field<&QueueInfo::workers>("workers"),
      field<&QueueInfo::asked_at>("asked_at"),
      field<&QueueInfo::wait>("wait").means("why its oldest available job is not running; null without such a job"),
      field<&QueueInfo::estimated>("estimated"),
      field<&QueueInfo::store_now>("store_now"),
  });
  return {"QueueInfo", fields};
}

}  // namespace leasehold::model
