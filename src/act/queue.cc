// Acts on queues.
#include "act/act.h"
#include "act/arguments.h"
#include "act/confirmations.h"

namespace leasehold::act {
namespace {

struct QueueSet {
  std::string name{};
  QueueSettings settings{};
};

Described describe(Type<QueueSet>) {
  static constexpr auto fields = fields_of<QueueSet>({
      field<&QueueSet::name>("name").as_name().needed(),
      inlined<&QueueSet::settings>(),
  });
  static const QueueSet fresh;
  return {"QueueSet", fields, &fresh};
}

struct QueueWorkers {
  std::string queue{};
};

Described describe(Type<QueueWorkers>) {
  static constexpr auto fields =
      fields_of<QueueWorkers>({field<&QueueWorkers::queue>("queue").as_name().or_null().means("null: every queue")});
  static const QueueWorkers fresh;
  return {"QueueWorkers", fields, &fresh};
}

Result<QueueInfo> queue_set(const Store& store, const QueueSet& given, const Call& /*call*/) {
  return store.queues().set(given.name, given.settings);
}

Result<QueueInfo> queue_pause(const Store& store, const ByNameWithReason& given, const Call& /*call*/) {
  return store.queues().pause(given.name, given.reason);
}

Result<QueueInfo> queue_resume(const Store& store, const ByName& given, const Call& /*call*/) {
  return store.queues().resume(given.name);
}

Result<QueuePurged> queue_purge(const Store& store, const ByName& given, const Call& /*call*/) {
  auto count = store.queues().purge(given.name);
  if (!count) return std::move(count).error();
  return QueuePurged{given.name, *count};
}

Result<QueueInfo> queue_show(const Store& store, const ByName& given, const Call& /*call*/) {
  return store.queues().show(given.name);
}

Result<Page<QueueInfo>> queue_list(const Store& store, const Nothing& /*given*/, const Call& /*call*/) {
  auto queues = store.queues().list();
  if (!queues) return std::move(queues).error();
  return Page<QueueInfo>{.items = std::move(*queues)};
}

Result<Page<WorkerInfo>> queue_workers(const Store& store, const QueueWorkers& given, const Call& /*call*/) {
  auto workers = store.queues().workers(given.queue);
  if (!workers) return std::move(workers).error();
  return Page<WorkerInfo>{.items = std::move(*workers)};
}

}  // namespace

std::span<const Act> queue_acts() {
  static constexpr Act acts[] = {
      act<queue_set>({
          .name = "queue.set",
          .help = "Set the limits of a queue; what is left out stays as it is",
          .scope = Scope::admin,
          .sql = "queue_set",
          .idempotent = true,
          .example = R"({"name":"mail","max_running":4})",
      }),
      act<queue_show>({
          .name = "queue.show",
          .help = "Show a queue and count its jobs",
          .idempotent = true,
          .refusals = refusals<Errc::not_found>,
          .example = R"({"name":"mail"})",
      }),
      act<queue_list>({
          .name = "queue.list",
          .help = "List the queues",
          .idempotent = true,
          .example = "{}",
      }),
      act<queue_workers>({
          .name = "queue.workers",
          .help = "List the workers, idle ones too",
          .idempotent = true,
          .example = R"({"queue":"mail"})",
      }),
      act<queue_pause>({
          .name = "queue.pause",
          .help = "Pause a queue: no job is claimed until it is resumed",
          .scope = Scope::admin,
          .sql = "queue_pause",
          .idempotent = true,
          .example = R"({"name":"mail","reason":"the provider is down"})",
      }),
      act<queue_resume>({
          .name = "queue.resume",
          .help = "Resume a paused queue",
          .scope = Scope::admin,
          .sql = "queue_resume",
          .idempotent = true,
          .refusals = refusals<Errc::not_found>,
          .example = R"({"name":"mail"})",
      }),
      act<queue_purge>({
          .name = "queue.purge",
          .help = "Cancel every waiting job of a queue",
          .scope = Scope::admin,
          .idempotent = true,
          .refusals = refusals<Errc::not_found>,
          .example = R"({"name":"mail"})",
      }),
  };
  return acts;
}

}  // namespace leasehold::act
