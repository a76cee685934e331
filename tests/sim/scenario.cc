#include "sim/scenario.h"

#include "sim/actor.h"

namespace leasehold::sim {
namespace {

template <typename T>
std::string complaint(const std::string& what, const Result<T>& result) {
  return result ? "" : what + ": " + to_string(result.error().code) + ": " + result.error().message;
}

std::string set_up_schedules(Actor& actor) {
  const auto schedules = actor.store.schedules();
  for (const auto& calendar : calendars) {
    ScheduleOptions options{.rule = CronRule{.expression = calendar.cron},
                            .on_fail = Between{2s, 4s},
                            .ttl = 5s,
                            .misfire = calendar.misfire,
                            .misfire_after = 20s,
                            .queue = calendar.queue};
    const auto saved = schedules.set(calendar.name, options);
    if (!saved) return complaint("setting " + calendar.name, saved);
    actor.stage.memory.periods[calendar.name] = calendar.period;
  }
  return complaint("setting a pause", schedules.set(paced_schedule, {.rule = every(5s, 8s), .ttl = 5s}));
}

std::string have_locks(Actor& actor) {
  for (const auto& name : lock_names) {
    const auto grant = actor.store.locks().acquire(name, {.ttl = 5s}, {.holder = actor.holder});
    if (!grant) return complaint("lock " + name, grant);
  }
  const auto grant = actor.store.locks().acquire(semaphore_name, {.ttl = 5s}, {.holder = actor.holder});
  return complaint("lock " + semaphore_name, grant);
}

std::string have_items(Actor& actor) {
  const auto session = actor.store.sessions().open({.id = "last"}, {.holder = actor.holder});
  if (!session) return complaint("opening a session", session);
  for (const auto& item : item_keys) {
    static_cast<void>(actor.store.items().reopen(item));
    const auto claim = actor.store.claims().take(item, "last");
    if (!claim) return complaint("item " + item, claim);
  }
  return "";
}

std::string have_chunks(Actor& actor) {
  for (int tries = 0; tries <= chunk_count; ++tries) {
    const auto grant = actor.store.chunks().claim(chunk_set, {.ttl = 5s}, {.holder = actor.holder});
    if (!grant && grant.error().code == Errc::empty && !grant.error().retry_at) return "";
    if (!grant) return complaint("chunks", grant);
    const auto& chunk = grant->chunks.front();
    const auto done = actor.store.chunks().complete(chunk_set, chunk.key, chunk.token);
    if (!done) return complaint("completing a chunk", done);
  }
  return "the chunks never end";
}

/// A limited queue needs a round for each job. Those that wait for a failed one stay where they are. What was blocked
/// may still have to wait for its moment, however far the clock fell back when the machine restarted.
std::string have_jobs(Actor& actor, const std::string& queue) {
  static_cast<void>(actor.store.queues().resume(queue));
  for (int tries = 0; tries < 500; ++tries) {
    const auto grant = actor.store.jobs().claim(queue, {.max = 10, .ttl = 5s}, {.holder = actor.holder});
    if (!grant && grant.error().code == Errc::empty && !grant.error().retry_at) return "";
    if (!grant && grant.error().code == Errc::empty) {
      actor.process.sleep_until(actor.stage.world.boot_now() + grant.error().retry_in.value_or(1s), false);
      continue;
    }
    if (!grant) return complaint("queue " + queue, grant);
    for (const auto& job : grant->jobs) {
      const auto done = actor.store.jobs().complete(job.id, job.token);
      if (!done) return complaint("completing a job", done);
    }
  }
  return "queue " + queue + " never ends";
}

std::string have_runs(Actor& actor) {
  std::vector<std::string> names{paced_schedule};
  for (const auto& calendar : calendars) names.push_back(calendar.name);
  for (const auto& name : names) {
    static_cast<void>(actor.store.schedules().resume(name));
    const auto run = actor.store.schedules().acquire(name, {.now = true, .ttl = 5s}, {.holder = actor.holder});
    if (!run) return complaint("schedule " + name, run);
  }
  return "";
}

}  // namespace

std::string set_up(Actor& actor) {
  const auto serial = actor.store.queues().set("serial", {.max_running = 1});
  if (!serial) return complaint("a serial queue", serial);
  const auto keyed = actor.store.queues().set("keyed", {.max_per_group = 1});
  if (!keyed) return complaint("a keyed queue", keyed);
  const auto chunks = plan_range(1, chunk_count * 100, 100);
  const auto planned = actor.store.chunks().plan(chunk_set, *chunks, {.settings = {.backoff_base = 1s}});
  if (!planned) return complaint("planning", planned);
  for (const auto& item : item_keys) {
    const auto added = actor.store.items().add(item, {.title = "simulated"});
    if (!added) return complaint("adding an item", added);
  }
  return set_up_schedules(actor);
}

std::string work_off(Actor& actor) {
  if (auto missing = have_locks(actor); !missing.empty()) return missing;
  if (auto missing = have_items(actor); !missing.empty()) return missing;
  if (auto missing = have_chunks(actor); !missing.empty()) return missing;
  for (const auto& queue : queue_names) {
    if (auto missing = have_jobs(actor, queue); !missing.empty()) return missing;
  }
  return have_runs(actor);
}

}  // namespace leasehold::sim
