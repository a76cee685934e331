// leasehold schedule acquire, heartbeat, complete, fail, release.
#include <memory>

#include "act/answers.h"
#include "act/confirmations.h"
#include "base/text.h"
#include "base/time_text.h"
#include "cli/bind/schedule_options.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/schedule_text.h"
#include "leasehold/limits.h"
#include "model/json.h"

namespace leasehold::cli {

// leasehold schedule acquire: take the due occurrence; no process stays behind.
namespace {

struct ScheduleAcquireCommand {
  std::string name;
  std::string holder;
  ScheduleAcquireOptions acquire;
  SkipManner skip;
  bool quiet = false;
};

void print_run(const Context& context, const ScheduleAcquireCommand& options, const ScheduleRun& run) {
  if (context.json) return print_line(model::to_json(run));
  const auto& grant = run.grant;
  if (options.quiet) return print("{} {}", printable(grant.key), grant.token.value);
  print("granted {}  token {}  until {} ({})  {}, due at {}{}", printable(grant.key), grant.token.value,
        local_time(grant.expires_at, grant.acquired_at), format_duration(grant.ttl), run.cause,
        local_time(run.occurrence, grant.acquired_at),
        grant.replayed ? "  again: this request id was granted before" : "");
  if (run.lost) say("  the previous run was lost: {}", shown_name(run.lost_holder));
  if (run.skipped > 0) say("  missed before it and skipped: {}", counted(run.skipped, "occurrence"));
}

int acquire(const Context& context, ScheduleAcquireCommand& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto schedules = store->schedules();
  const auto run = schedules.acquire(options.name, options.acquire, {.holder = calling_process(options.holder)});
  if (!run && is_skip(run.error())) return report_skip(context, options.name, run.error(), options.skip);
  if (!run) return report(context, run.error());
  print_run(context, options, *run);
  return exit_code::ok;
}

}  // namespace

void add_schedule_acquire(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "acquire",
                  "Acquire the due occurrence, if it is not held (exit code 3: it is not due or paused, 75: held)",
                  {"leasehold schedule acquire refresh", "leasehold schedule acquire refresh --now --ttl 1h",
                   "read -r name token < <(leasehold schedule acquire refresh -q) && ./refresh &&\n"
                   "    leasehold schedule complete \"$name\" --token \"$token\""});
  auto options = std::make_shared<ScheduleAcquireCommand>();
  add_schedule_name(*command, options->name);
  command->add_flag("--now", options->acquire.now, "Acquire it even if it is not due, never while it is held");
  add_duration(*command, "--ttl", options->acquire.ttl,
               "How long the lease lasts without a heartbeat (default: the schedule's)");
  add_holder(*command, options->holder);
  command
      ->add_option("--request-id", options->acquire.request_id,
                   "Make retries safe: the same id returns the first answer again")
      ->check(not_empty)
      ->type_name("ID");
  add_skip_exit_code(*command, options->skip.code);
  command->add_flag("-q,--quiet", options->quiet, "Print only name and token");
  set_action(*command, context, [&context, options] { return acquire(context, *options); });
}

// leasehold schedule heartbeat: extend a run.
namespace {

struct ScheduleHeartbeatOptions {
  NamedRun run;
  std::optional<Duration> ttl;
};

int heartbeat(const Context& context, const ScheduleHeartbeatOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto grant = store->schedules().heartbeat(options.run.name, options.run.token, options.ttl);
  if (!grant) return report(context, grant.error());
  if (context.json) {
    print_line(model::to_json(act::RunGrant{*grant}));
  } else {
    print("extended {}  until {} ({})", printable(grant->key), local_time(grant->expires_at, grant->acquired_at),
          format_duration(grant->ttl));
  }
  return exit_code::ok;
}

}  // namespace

void add_schedule_heartbeat(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "heartbeat", "Extend the lease of a run; an expired lease is lost (exit code 76)",
                  {"leasehold schedule heartbeat refresh --token 1763200000000000",
                   "LEASEHOLD_TOKEN=$token leasehold schedule heartbeat refresh --ttl 10m || exit"});
  auto options = std::make_shared<ScheduleHeartbeatOptions>();
  add_named_run(*command, context, options->run);
  add_duration(*command, "--ttl", options->ttl, "New ttl of the lease (default: unchanged)");
  set_action(*command, context, [&context, options] { return heartbeat(context, *options); });
}

// leasehold schedule complete, fail: report the result of a run.
namespace {

struct ScheduleSettleOptions {
  NamedRun run;
  RunResult result;
  NextRun next;
};

int settle(const Context& context, ScheduleSettleOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  options.result.next_run_at = options.next.at;
  options.result.next_run_in = options.next.in;
  const auto settled = store->schedules().settle(options.run.name, options.run.token, options.result);
  if (!settled) return report(context, settled.error());
  if (context.json) {
    print_line(model::to_json(*settled));
  } else {
    print("{} {}  next run: {}{}", options.result.ok ? "completed" : "failed", printable(options.run.name),
          with_distance(settled->next_run_at, settled->next_run_at - settled->next_in),
          settled->replayed ? "  (repeated)" : "");
  }
  return exit_code::ok;
}

void add_settle_options(CLI::App& command, Context& context, const std::shared_ptr<ScheduleSettleOptions>& options,
                        const std::string& next_help) {
  add_named_run(command, context, options->run);
  command
      .add_option("--counts", options->result.counts,
                  "Counts of the run: any JSON, up to " + format_size(bounds::counts_bytes))
      ->check(not_empty)
      ->type_name("JSON");
  add_next_run(command, options->next, next_help);
  set_action(command, context, [&context, options] { return settle(context, *options); });
}

}  // namespace

void add_schedule_complete(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "complete",
                  "Complete a run and plan the next one; if the run is lost, nothing changes (exit code 76)",
                  {R"(leasehold schedule complete refresh --token "$token" --counts '{"rows":120}')",
                   "leasehold schedule complete refresh --token \"$token\" --next 30s    # there is more to do"});
  add_settle_options(*command, context, std::make_shared<ScheduleSettleOptions>(),
                     "Time of the next run (default: by the rule)");
}

void add_schedule_fail(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "fail",
                              "Fail a run; the next one follows after the pause of --on-fail; if the run is lost, "
                              "nothing changes (exit code 76)",
                              {"leasehold schedule fail refresh --token \"$token\" --error 'source does not answer'",
                               "leasehold schedule fail refresh --token \"$token\" --next 1h"});
  auto options = std::make_shared<ScheduleSettleOptions>();
  options->result.ok = false;
  command->add_option("--error", options->result.error, "Why it failed, up to " + format_size(bounds::error_bytes))
      ->type_name("TEXT");
  add_settle_options(*command, context, options, "Time of the next run (default: by --on-fail)");
}

// leasehold schedule release: give up a run without a verdict.
namespace {

int release(const Context& context, const NamedRun& run) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto released = store->schedules().release(run.name, run.token);
  if (!released) return report(context, released.error());
  if (context.json) {
    print_line(model::to_json(act::Released{run.name, run.token}));
  } else {
    print("released {}: it is due again", printable(run.name));
  }
  return exit_code::ok;
}

}  // namespace

void add_schedule_release(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "release",
      "Release a run without a verdict; it is due again at once; if the run is lost, nothing changes (exit code 76)",
      {"leasehold schedule release refresh --token 1763200000000000"});
  auto run = std::make_shared<NamedRun>();
  add_named_run(*command, context, *run);
  set_action(*command, context, [&context, run] { return release(context, *run); });
}

}  // namespace leasehold::cli
