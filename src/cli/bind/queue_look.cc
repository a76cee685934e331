// leasehold queue ls, workers, drain.
#include <algorithm>
#include <memory>
#include <thread>

#include "base/time_text.h"
#include "cli/bind/job_options.h"
#include "cli/command.h"
#include "cli/print/list.h"
#include "cli/print/live.h"
#include "cli/print/print.h"
#include "cli/print/queue_table.h"
#include "cli/print/report.h"
#include "cli/print/table.h"
#include "model/bounds.h"
#include "model/json.h"

namespace leasehold::cli {

// leasehold queue ls: every queue and its counts.
namespace {

std::string gist_of(const QueueInfo& queue) {
  return fmt::format("{}, {} available, {} deferred, {} blocked, {} running, {} expired, {} failed", shown_state(queue),
                     queue.available, queue.deferred, queue.blocked, queue.running, queue.expired, queue.failed);
}

Result<ListPicture> look_at_queues(const Store& store) {
  auto queues = store.queues().list();
  if (!queues) return std::move(queues).error();
  const Page<QueueInfo> page{.items = std::move(*queues)};
  return picture_of(
      page, table_of_queues(page.items), [](const auto& queue) { return queue.name; },
      [](const auto& each) { return gist_of(each); });
}

int list_queues(const Context& context, bool watch) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  return show_list(context, *store, {.what = "queues", .watch = watch, .look = [&] { return look_at_queues(*store); }});
}

}  // namespace

void add_queue_ls(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "ls", "List queues: jobs waiting, running, failed; age and pace",
                  {"leasehold queue ls", "leasehold queue ls --json | jq '.items[] | select(.failed > 0).name'"});
  auto watch = std::make_shared<bool>(false);
  add_watch(*command, *watch);
  set_action(*command, context, [&context, watch] { return list_queues(context, *watch); });
}

// leasehold queue workers: who works, also without a job.
namespace {

struct QueueWorkersOptions {
  std::string queue;
  bool watch = false;
};

LeaseState state_of(const WorkerInfo& worker) {
  return worker.held_until > worker.store_now ? LeaseState::running : LeaseState::expired;
}

std::string jobs_of(const WorkerInfo& worker) { return fmt::format("{} of {}", worker.running, worker.concurrency); }
std::string queues_of(const WorkerInfo& worker) { return printable(fmt::format("{}", fmt::join(worker.queues, ", "))); }

std::vector<std::string> table_of(const std::vector<WorkerInfo>& workers) {
  Table table({{"WORKER", Column::may_be_cut, 1},
               {"HOST", Column::may_be_cut},
               {"PID", Column::to_the_right},
               {"STATE", Column::as_it_is, 2},
               {"RUNNING", Column::as_it_is, 1},
               "SINCE",
               "HEARTBEAT",
               {"QUEUES", Column::may_be_cut, 1}});
  for (const auto& worker : workers) {
    table.add({printable(worker.holder.name), printable(worker.holder.host), std::to_string(worker.holder.pid),
               coloured(state_of(worker)), jobs_of(worker), format_age(worker.store_now - worker.since),
               format_age(worker.store_now - worker.heartbeat_at), queues_of(worker)});
  }
  return table.lines();
}

Result<ListPicture> look_at_workers(const Store& store, const std::string& queue) {
  auto workers = store.queues().workers(queue);
  if (!workers) return std::move(workers).error();
  const Page<WorkerInfo> page{.items = std::move(*workers)};
  return picture_of(
      page, table_of(page.items), [](const auto& worker) { return std::to_string(worker.lease_id); },
      [](const auto& worker) {
        return fmt::format("{}, {}, {}, {}", printable(worker.holder.name), to_string(state_of(worker)),
                           jobs_of(worker), queues_of(worker));
      });
}

int list_workers(const Context& context, const QueueWorkersOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  return show_list(context, *store, {.what = "workers", .watch = options.watch, .look = [&] {
                                       return look_at_workers(*store, options.queue);
                                     }});
}

}  // namespace

void add_queue_workers(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "workers",
                  "List workers, idle ones too: their queues, since when they work, how many jobs they run. An "
                  "expired one has died",
                  {"leasehold queue workers", "leasehold queue workers --queue mail --json | jq '.items | length'"});
  auto options = std::make_shared<QueueWorkersOptions>();
  command->add_option("--queue", options->queue, "Only workers that listen to this queue")
      ->check(not_empty)
      ->type_name("QUEUE");
  add_watch(*command, options->watch);
  set_action(*command, context, [&context, options] { return list_workers(context, *options); });
}

// leasehold queue drain: wait until a queue is done.
namespace {

/// Changes wake it, but counting at every one of them would burden a busy store.
constexpr Duration shortest_pause = std::chrono::milliseconds(100);
constexpr Duration longest_pause = std::chrono::seconds(1);

struct QueueDrainOptions {
  std::string name;
  Duration timeout = bounds::max_delay;
  bool only_running = false;
};

std::int64_t waiting_in(const QueueInfo& queue) { return queue.available + queue.deferred + queue.blocked; }
std::int64_t held_in(const QueueInfo& queue) { return queue.running + queue.expired; }

std::string what_is_left(const QueueInfo& queue) {
  return fmt::format("{} waiting, {} running", waiting_in(queue), held_in(queue));
}

/// The queue when it is done, or when the time ran out.
Result<QueueInfo> wait_until_done(const Store& store, const QueueDrainOptions& options) {
  const auto until = BootClock::now() + options.timeout;
  ProgressLine progress;
  for (;;) {
    auto queue = store.queues().show(options.name);
    if (!queue) return queue;
    const bool done = held_in(*queue) == 0 && (options.only_running || waiting_in(*queue) == 0);
    const auto left = until - BootClock::now();
    if (done || left <= Duration(0)) return queue;
    progress.show([&] {
      return fmt::format("{}: {}, {} completed in the last minute{}", printable(queue->name), what_is_left(*queue),
                         queue->completed_last_minute, queue->paused ? "; it is paused" : "");
    });
    std::this_thread::sleep_for(std::min(left, shortest_pause));
    store.wait_for_change(std::clamp<Duration>(until - BootClock::now(), Duration(0), longest_pause));
  }
}

int drain(const Context& context, const QueueDrainOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto queue = wait_until_done(*store, options);
  if (!queue) return report(context, queue.error());
  const bool done = held_in(*queue) == 0 && (options.only_running || waiting_in(*queue) == 0);
  if (!done) {
    return report(context, {.code = Errc::busy,
                            .message = fmt::format("queue {} is not drained after {}: {}{}", queue->name,
                                                   format_duration(options.timeout), what_is_left(*queue),
                                                   queue->paused ? "; it is paused" : "")});
  }
  if (context.json) {
    print_line(model::to_json(*queue));
  } else {
    print("drained {}{}", printable(queue->name), queue->failed > 0 ? fmt::format("; {} failed", queue->failed) : "");
  }
  return exit_code::ok;
}

}  // namespace

void add_queue_drain(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "drain",
                              "Wait until no job waits or runs in a queue (exit code 75: the wait ran out)",
                              {"leasehold queue drain mail --wait 10m",
                               "leasehold queue pause mail && leasehold queue drain mail --running    # then deploy"});
  auto options = std::make_shared<QueueDrainOptions>();
  add_queue_name(*command, options->name);
  add_duration(*command, "--wait", options->timeout, "Wait up to this long (default: no limit)");
  command->add_flag("--running", options->only_running, "Wait for running jobs only");
  set_action(*command, context, [&context, options] { return drain(context, *options); });
}

}  // namespace leasehold::cli
