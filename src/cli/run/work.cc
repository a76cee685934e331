// leasehold work: a command per job, ended before its lease ends.
#include <fmt/format.h>
#include <memory>

#include "base/text.h"
#include "base/time_text.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/run/command_runner.h"
#include "cli/run/command_stops.h"
#include "cli/run/work_command.h"
#include "cli/run/wrapped_command.h"
#include "cli/store_trouble.h"
#include "leasehold/limits.h"
#include "leasehold/worker.h"
#include "model/bounds.h"
#include "model/json.h"
#include "run/warden.h"

namespace leasehold::cli {
namespace {

constexpr const char* work_command_help =
    "After --: the program and its arguments; no shell is involved. Stdin has the payload; the environment "
    "has LEASEHOLD_JOB_ID, _JOB_TOKEN, _JOB_DB, _ATTEMPT, _QUEUE, _TOKEN, _EXPIRES_AT and _DB; for a job "
    "that a schedule enqueued also LEASEHOLD_JOB_SCHEDULE and _JOB_OCCURRENCE. The command may write progress lines to "
    "descriptor 3: 50 copying tables, or JSON with percent, message and stage. A line cursor JSON saves where the job "
    "is: "
    "the next attempt gets it in LEASEHOLD_CURSOR. LEASEHOLD_METADATA has the job's metadata. Exit code 0 completes "
    "the job, 75 "
    "snoozes it for 5s, 65 fails it without a retry, any other fails it, with the end of stderr as its text. Whatever "
    "happens "
    "to this process, leasehold kills the command and all it started before the lease expires";

struct WorkOptions {
  std::vector<std::string> queues;
  std::vector<std::string> command;
  std::string holder;
  int concurrency = 1;
  Duration ttl = defaults::worker_ttl;
  Duration grace = default_grace;
  std::optional<Duration> timeout;
  bool once = false;
  bool drain = false;
  bool keep_output = false;
  bool verbose = false;

  [[nodiscard]] WorkUntil until() const {
    return once ? WorkUntil::once : drain ? WorkUntil::empty : WorkUntil::stopped;
  }
};

void report_summary(const Context& context, const WorkSummary& summary) {
  if (context.json) {
    print_line(model::json_object({{"claimed", summary.claimed},
                                   {"completed", summary.completed},
                                   {"failed", summary.failed},
                                   {"released", summary.released},
                                   {"snoozed", summary.snoozed},
                                   {"cancelled", summary.cancelled},
                                   {"lost", summary.lost}}));
    return;
  }
  std::string text;
  for (const auto& [count, what] : {std::pair{summary.completed, "completed"}, std::pair{summary.failed, "failed"},
                                    std::pair{summary.released, "released"}, std::pair{summary.snoozed, "snoozed"},
                                    std::pair{summary.cancelled, "cancelled"}, std::pair{summary.lost, "lost"}}) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  }
  say("leasehold: {}", text.empty() ? "no job was done" : text);
}

int code_after_once(const Context& context, const WorkSummary& summary) {
  if (summary.claimed == 0 && summary.refusal) return report(context, *summary.refusal);
  if (summary.completed > 0) return exit_code::ok;
  return summary.lost > 0 ? exit_code::lost : exit_code::failure;
}

int conclude(const Context& context, const WorkOptions& options, const WorkSummary& summary, int signal) {
  const bool only_refused = options.once && summary.claimed == 0 && summary.refusal;
  if (!only_refused) report_summary(context, summary);
  // It has no end of its own, so a requested stop is a success.
  if (options.until() == WorkUntil::stopped) return exit_code::ok;
  const bool interrupted = signal != 0 && !only_refused && !(options.once && summary.completed > 0);
  if (interrupted) return exit_code_after(signal);
  return options.once ? code_after_once(context, summary) : exit_code::ok;
}

WorkerOptions worker_options(const WorkOptions& options, Holder holder) {
  return {.concurrency = options.concurrency,
          .prefetch = 0,
          .ttl = options.ttl,
          .grace = without_end,
          .timeout = options.timeout,
          .until = options.until(),
          .holder = std::move(holder),
          .on_trouble = [](const Error& error) { say("leasehold: {}", printable(error.message)); }};
}

int work_with(const Context& context, const WorkOptions& options, const run::Warden& warden) {
  CommandStops stops;
  const SteppedStop stop(stops, options.grace);
  const auto url = context.store_url();
  if (!url) return report(context, url.error());
  auto patience = as_long_as_needed;
  auto store = open_within(patience, context, Opening::or_make, stops.claiming.get_token());
  if (!store) return report(context, store.error());
  CommandRunner runner(
      {.program = options.command.front(), .ttl = options.ttl, .grace = fitting_grace(options.grace, options.ttl)},
      warden, stops);
  JobCommand command(runner, {.url = with_absolute_path(*url),
                              .grace = fitting_grace(options.grace, options.ttl),
                              .keep_output = options.keep_output,
                              .verbose = options.verbose});
  Worker worker(*store, worker_options(options, holder_guarded_by(warden.process(), options.holder)));
  for (const auto& queue : options.queues) {
    worker.handle(queue, [&command](const Job& job, JobContext& job_context) { return command.run(job, job_context); });
  }
  const auto summary = worker.run(stops.claiming.get_token());
  if (!summary) return report(context, summary.error());
  if (runner.fatal_code() != 0) return runner.fatal_code();
  return conclude(context, options, *summary, stop.signal());
}

int work(const Context& context, const WorkOptions& options) {
  if (const auto checked = check_ttl(options.ttl); !checked) return report(context, checked.error());
  if (const auto checked = check_timeout(options.timeout); !checked) return report(context, checked.error());
  // First of all, before there is a thread or a connection that a fork would copy.
  auto warden = run::Warden::fork(options.command);
  if (!warden) return report(context, warden.error());
  return work_with(context, options, **warden);
}

}  // namespace

void add_work(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "work", "Run a command for every job of some queues; kill it before its lease expires",
      {"leasehold work mail -- ./send-mail", "leasehold work thumbnails video -c 8 --ttl 2m -- ./convert.sh",
       "leasehold work reports --once --result -- ./make-report    # exit code 3: no job",
       "leasehold work mail -- sh -c 'echo \"10 connecting\" >&3; exec ./send-mail'"});
  auto options = std::make_shared<WorkOptions>();
  command->add_option("QUEUE", options->queues, "Queues, served in turn")->required()->type_name("");
  // For the help page: see words_after_names().
  command->add_option("COMMAND", options->command, work_command_help)->type_name("");
  add_number(*command, "-c,--concurrency", options->concurrency, 1, bounds::max_concurrency,
             "Commands at once (default 1)");
  add_duration(*command, "--ttl", options->ttl,
               fmt::format("How long the lease lasts without a heartbeat (default {})", format_duration(options->ttl)));
  add_duration(*command, "--grace", options->grace,
               fmt::format("Time for running commands to finish when this process is stopped, and between "
                           "SIGTERM and SIGKILL (default {}; between the signals at most a third of the ttl)",
                           format_duration(options->grace)));
  add_timeout(*command, options->timeout,
              "a command that runs longer fails as timed out; SIGTERM comes earlier by the grace (at most a third of "
              "the limit). A limit of the job or of its queue takes precedence");
  add_holder(*command, options->holder);
  command->add_flag("--result", options->keep_output,
                    "Keep the command's stdout as the job's result, up to " + format_size(bounds::result_bytes));
  command->add_flag("-v,--verbose", options->verbose,
                    "Log every outcome to stderr: job, attempt, outcome, duration (default: failures)");
  auto* once = command->add_flag("--once", options->once,
                                 "Run one job, then exit: 0 completed, 1 not completed, 3 none, 76 lost");
  command->add_flag("--drain", options->drain, "Exit when the queues are empty or paused")->excludes(once);
  command->callback([&context, options] {
    options->command =
        words_after_names(context, options->queues, {"QUEUE", "", "leasehold work QUEUE... -- COMMAND..."});
    context.action = [&context, options] { return work(context, *options); };
  });
}

}  // namespace leasehold::cli
