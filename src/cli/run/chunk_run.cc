// leasehold chunk run: a command per chunk, ended before its lease ends.
#include <fmt/format.h>
#include <memory>

#include "base/time_text.h"
#include "cli/bind/chunk_options.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/run/chunk_run_command.h"
#include "cli/run/command_runner.h"
#include "cli/run/command_stops.h"
#include "cli/run/wrapped_command.h"
#include "cli/store_trouble.h"
#include "leasehold/limits.h"
#include "leasehold/loader.h"
#include "model/bounds.h"
#include "model/json.h"
#include "run/warden.h"

namespace leasehold::cli {
namespace {

constexpr const char* chunk_command_help =
    "After --: the program and its arguments; no shell is involved. Stdin has the chunk as one JSON object: "
    "set, "
    "key, spec, cursor, rows, attempt, token, hash; the environment has LEASEHOLD_SET, _CHUNK, _CHUNK_TOKEN, "
    "_CHUNK_DB, _CURSOR (empty: from the beginning), _ROWS, _ATTEMPT, _TOKEN, _EXPIRES_AT and _DB. The command "
    "may write lines to descriptor 3: rows N or rows +N, which is remembered; cursor JSON, which is saved at once "
    "with the rows so far; or both as "
    R"({"cursor":...,"rows":N}. Exit code 0 completes the chunk, 75 releases it for later, 65 fails it without a retry, )"
    "any other fails it, with the end of stderr as its text. Whatever happens to this process, leasehold kills the "
    "command and all it started before the lease expires";

struct ChunkRunOptions {
  std::string set;
  std::string holder;
  int concurrency = 1;
  std::optional<Duration> ttl;  ///< unset: the set's ttl
  Duration grace = default_grace;
  std::optional<Duration> timeout;
  std::optional<Duration> older_than;
  bool keep_waiting = false;
  bool once = false;
  bool verbose = false;
  std::string program;
  std::vector<std::string> command;
};

void report_summary(const Context& context, const ChunkRunOptions& options, const LoadSummary& summary) {
  const auto state = summary.set ? summary.set->summary() : std::string("in an unknown state");
  if (context.json) {
    print_line(model::json_object({{"set", options.set},
                                   {"claimed", summary.claimed},
                                   {"completed", summary.completed},
                                   {"failed", summary.failed},
                                   {"released", summary.released},
                                   {"skipped", summary.skipped},
                                   {"lost", summary.lost},
                                   {"summary", state}}));
    return;
  }
  std::string text;
  for (const auto& [count, what] : {std::pair{summary.completed, "completed"}, std::pair{summary.failed, "failed"},
                                    std::pair{summary.released, "released"}, std::pair{summary.lost, "lost"}}) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  }
  say("leasehold: {}; {} is {}", text.empty() ? "no chunk was loaded" : text, printable(options.set), state);
}

/// For --once: the exit code if the chunk was not loaded.
int code_after_once(const Context& context, const LoadSummary& summary) {
  if (summary.claimed == 0 && summary.refusal) return report(context, *summary.refusal);
  return summary.lost > 0 ? exit_code::lost : exit_code::failure;
}

bool has_done_it(const ChunkRunOptions& options, const LoadSummary& summary) {
  return options.once ? summary.completed > 0 : summary.set && summary.set->state == ChunkSetState::complete;
}

int conclude(const Context& context, const ChunkRunOptions& options, const LoadSummary& summary, int signal) {
  const bool only_refused = options.once && summary.claimed == 0 && summary.refusal;
  if (!only_refused) report_summary(context, options, summary);
  // It has no end of its own, so a requested stop is a success.
  if (options.keep_waiting) return exit_code::ok;
  if (has_done_it(options, summary)) return exit_code::ok;
  if (signal != 0 && !only_refused) return exit_code_after(signal);
  return options.once ? code_after_once(context, summary) : exit_code::failure;
}

LoaderOptions loader_options(const ChunkRunOptions& options, Duration ttl, Holder holder) {
  return {.concurrency = options.concurrency,
          .ttl = ttl,
          .grace = without_end,
          .older_than = options.older_than,
          .keep_waiting = options.keep_waiting,
          .once = options.once,
          .holder = std::move(holder),
          .on_trouble = [](const Error& error) { say("leasehold: {}", printable(error.message)); }};
}

int run_with(const Context& context, const ChunkRunOptions& options, const run::Warden& warden) {
  CommandStops stops;
  const SteppedStop stop(stops, options.grace);
  const auto url = context.store_url();
  if (!url) return report(context, url.error());
  auto patience = as_long_as_needed;
  auto store = open_within(patience, context, Opening::or_make, stops.claiming.get_token());
  if (!store) return report(context, store.error());
  const auto set = store->chunks().progress(options.set);
  if (!set) return report(context, set.error());
  const auto ttl = options.ttl.value_or(set->default_ttl);
  CommandRunner runner({.program = options.command.front(), .ttl = ttl, .grace = fitting_grace(options.grace, ttl)},
                       warden, stops);
  const auto claiming = stops.claiming.get_token();
  ChunkCommand command(runner,
                       {.url = with_absolute_path(*url),
                        .timeout = options.timeout,
                        .hold_back = options.once ? Duration(0) : retry_later_delay,
                        .verbose = options.verbose},
                       claiming);
  Loader loader(*store, options.set, loader_options(options, ttl, holder_guarded_by(warden.process(), options.holder)));
  const auto summary = loader.run(
      [&command](const Chunk& chunk, ChunkContext& chunk_context) { return command.run(chunk, chunk_context); },
      claiming);
  if (!summary) return report(context, summary.error());
  if (runner.fatal_code() != 0) return runner.fatal_code();
  return conclude(context, options, *summary, stop.signal());
}

int run_chunks(const Context& context, const ChunkRunOptions& options) {
  if (const auto checked = check_timeout(options.timeout); !checked) return report(context, checked.error());
  if (options.ttl) {
    if (const auto checked = check_ttl(*options.ttl); !checked) return report(context, checked.error());
  }
  // First of all, before there is a thread or a connection that a fork would copy.
  auto warden = run::Warden::fork(options.command);
  if (!warden) return report(context, warden.error());
  return run_with(context, options, **warden);
}

}  // namespace

void add_chunk_run(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "run", "Run a command for every chunk of a set; kill it before its lease expires",
                  {"leasehold chunk run orders -c 4 -- ./load-orders",
                   "leasehold chunk run orders --older-than 1d -- ./load-orders",
                   R"(leasehold chunk run orders -- sh -c 'rows=$(./load | wc -l); echo "rows $rows" >&3')"});
  auto options = std::make_shared<ChunkRunOptions>();
  add_set_name(*command, options->set);
  add_number(*command, "-c,--concurrency", options->concurrency, 1, bounds::max_concurrency,
             "Commands at once (default 1)");
  add_duration(*command, "--ttl", options->ttl,
               fmt::format("How long the lease lasts without a heartbeat (default: the set's, {} unless set)",
                           format_duration(defaults::chunk_ttl)));
  add_duration(*command, "--grace", options->grace,
               fmt::format("Time for running commands to finish when this process is stopped, and between "
                           "SIGTERM and SIGKILL (default {}; between the signals at most a third of the ttl)",
                           format_duration(options->grace)));
  add_timeout(*command, options->timeout, "then SIGTERM, after the grace SIGKILL, and the chunk has failed");
  add_duration(*command, "--older-than", options->older_than,
               "Reload chunks completed longer ago than this, when nothing else is open");
  add_holder(*command, options->holder);
  command->add_flag("-v,--verbose", options->verbose,
                    "Log every outcome to stderr: chunk, attempt, outcome, duration (default: failures)");
  auto* keep = command->add_flag("--keep-waiting", options->keep_waiting,
                                 "Keep waiting after the set is final: for a reset, a new plan, or chunks to get old");
  command
      ->add_flag("--once", options->once,
                 "Run one chunk, then exit: 0 completed, 1 not completed, 3 none, 75 all are held, 76 "
                 "lost. Without it the exit code is 0 when the set is complete, 1 when it is not")
      ->excludes(keep);
  // The parser knows only the program; prefix_command leaves the words after it unchanged.
  command->prefix_command();
  command->add_option("COMMAND", options->program, chunk_command_help)->required()->type_name("");
  command->callback([&context, options, command] {
    options->command = words_after_mark(
        *command, context, {"SET", options->set, "leasehold chunk run SET -- COMMAND..."}, options->program);
    context.action = [&context, options] { return run_chunks(context, *options); };
  });
}

}  // namespace leasehold::cli
