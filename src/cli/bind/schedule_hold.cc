// leasehold schedule acquire, heartbeat, finish, release.
#include <memory>

#include "base/text.h"
#include "base/time_text.h"
#include "cli/bind/schedule_options.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/schedule_text.h"
#include "leasehold/limits.h"
#include "wire/wire.h"

namespace leasehold::cli {

// leasehold schedule acquire: take the occurrence that is due; no process stays behind.
namespace {

struct ScheduleAcquireCommand {
  std::string name;
  std::string holder;
  ScheduleAcquireOptions acquire;
  SkipManner skip;
  bool quiet = false;
};

void print_run(const Context& context, const ScheduleAcquireCommand& options, const ScheduleRun& run) {
  if (context.json) return print_line(wire::to_json(run));
  const auto& grant = run.grant;
  if (options.quiet) return print("{} {}", printable(grant.key), grant.token.value);
  print("granted {}  token {}  until {} ({})  {}, due at {}{}", printable(grant.key), grant.token.value,
        local_time(grant.expires_at, grant.acquired_at), format_duration(grant.ttl), run.cause,
        local_time(run.occurrence, grant.acquired_at),
        grant.replayed ? "  again: this request id was granted before" : "");
  if (run.lost) say("  the run before was lost: {}", printable(run.lost_holder));
  if (run.skipped > 0) say("  missed before it, and skipped: {}", counted(run.skipped, "occurrence"));
}

int acquire(const Context& context, ScheduleAcquireCommand& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto schedules = store->schedules();
  const auto run = schedules.acquire(options.name, options.acquire, {.holder = calling_process(options.holder)});
  if (!run && is_skip(run.error())) return tell_skip(context, options.name, run.error(), options.skip);
  if (!run) return report(context, run.error());
  print_run(context, options, *run);
  return exit_code::ok;
}

}  // namespace

void add_schedule_acquire(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "acquire",
                  "Take the occurrence that is due, if nobody has it (exit code 3: it is not due or paused, 75: held)",
                  {"leasehold schedule acquire refresh", "leasehold schedule acquire refresh --now --lease 1h",
                   "read -r name token < <(leasehold schedule acquire refresh -q) && ./refresh &&\n"
                   "    leasehold schedule finish \"$name\" --ok --token \"$token\""});
  auto options = std::make_shared<ScheduleAcquireCommand>();
  add_schedule_name(*command, options->name);
  command->add_flag("--now", options->acquire.now, "Even if it is not due; never while somebody else has it");
  add_duration(*command, "--lease", options->acquire.ttl,
               "How long the lease lasts without a heartbeat (default: as the schedule says)");
  add_holder(*command, options->holder);
  command
      ->add_option("--request-id", options->acquire.request_id,
                   "Makes repeating harmless: the same id gives the first answer again")
      ->check(not_empty)
      ->type_name("ID");
  add_skip_exit_code(*command, options->skip.code);
  command->add_flag("-q,--quiet", options->quiet, "Print nothing but name and token");
  set_action(*command, context, [&context, options] { return acquire(context, *options); });
}

// leasehold schedule heartbeat: a run goes on.
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
    print_line(wire::to_json(*grant));
  } else {
    print("extended {}  until {} ({})", printable(grant->key), local_time(grant->expires_at, grant->acquired_at),
          format_duration(grant->ttl));
  }
  return exit_code::ok;
}

}  // namespace

void add_schedule_heartbeat(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "heartbeat", "Say that a run goes on; one that has expired is lost (exit code 76)",
                  {"leasehold schedule heartbeat refresh --token 1763200000000000",
                   "LEASEHOLD_TOKEN=$token leasehold schedule heartbeat refresh --lease 10m || exit"});
  auto options = std::make_shared<ScheduleHeartbeatOptions>();
  add_named_run(*command, context, options->run);
  add_duration(*command, "--lease", options->ttl, "A new length for the lease (default: it keeps its own)");
  set_action(*command, context, [&context, options] { return heartbeat(context, *options); });
}

// leasehold schedule finish: how a run went.
namespace {

struct ScheduleFinishOptions {
  NamedRun run;
  bool ok = false;
  bool failed = false;
  std::string error;
  std::string counts;
  NextRun next;
};

void print_finished(const ScheduleFinishOptions& options, const Finished& finished) {
  print("finished {}  {}  next run: {}{}", printable(options.run.name), options.ok ? "ok" : "failed",
        with_distance(finished.next_run_at, finished.next_run_at - finished.next_in),
        finished.replayed ? "  (this was said before)" : "");
}

int finish(const Context& context, const ScheduleFinishOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const RunResult result{.ok = options.ok,
                         .error = options.error,
                         .counts = options.counts,
                         .next_run_at = options.next.at,
                         .next_run_in = options.next.in};
  const auto finished = store->schedules().finish(options.run.name, options.run.token, result);
  if (!finished) return report(context, finished.error());
  if (context.json) {
    print_line(wire::to_json(*finished));
  } else {
    print_finished(options, *finished);
  }
  return exit_code::ok;
}

}  // namespace

void add_schedule_finish(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "finish",
                  "Say how a run went, which decides when the next one is; too late changes nothing (exit code 76)",
                  {R"(leasehold schedule finish refresh --token "$token" --ok --counts '{"rows":120}')",
                   "leasehold schedule finish refresh --token \"$token\" --fail --error 'source does not answer'",
                   "leasehold schedule finish refresh --token \"$token\" --ok --next 30s    # there is more to do"});
  auto options = std::make_shared<ScheduleFinishOptions>();
  add_named_run(*command, context, options->run);
  auto* ok = command->add_flag("--ok", options->ok, "It went well");
  auto* failed =
      command->add_flag("--fail", options->failed, "It did not: the next run comes after the pause for that");
  failed->excludes(ok);
  command->add_option("--error", options->error, "Why it failed, up to " + format_size(bounds::error_bytes))
      ->type_name("TEXT")
      ->needs(failed);
  command
      ->add_option("--counts", options->counts,
                   "What the run has done: any JSON, up to " + format_size(bounds::counts_bytes))
      ->check(not_empty)
      ->type_name("JSON");
  add_next_run(*command, options->next,
               "When the next run is (default: as the rule says, after a failure as --on-fail says)");
  after_parsing(*command, context, [options] {
    if (!options->ok && !options->failed) throw CLI::ValidationError("--ok, --fail", "one of them is needed");
  });
  set_action(*command, context, [&context, options] { return finish(context, *options); });
}

// leasehold schedule release: a run is given up without a verdict.
namespace {

int release(const Context& context, const NamedRun& run) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto released = store->schedules().release(run.name, run.token);
  if (!released) return report(context, released.error());
  if (context.json) {
    print_line(wire::object({{"released", true}, {"schedule", run.name}, {"token", run.token.value}}));
  } else {
    print("released {}: it is due again", printable(run.name));
  }
  return exit_code::ok;
}

}  // namespace

void add_schedule_release(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "release",
                  "Give a run up without a verdict: it is due again at once; too late changes nothing (exit code 76)",
                  {"leasehold schedule release refresh --token 1763200000000000"});
  auto run = std::make_shared<NamedRun>();
  add_named_run(*command, context, *run);
  set_action(*command, context, [&context, run] { return release(context, *run); });
}

}  // namespace leasehold::cli
