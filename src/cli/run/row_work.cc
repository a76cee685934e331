// leasehold row work: a command per row of an adopted table, ended before its lease ends.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>

#include "base/time_text.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/run/command_runner.h"
#include "cli/run/command_stops.h"
#include "cli/run/wrapped_command.h"
#include "cli/run/wrapper_variables.h"
#include "leasehold/limits.h"
#include "leasehold/row_worker.h"
#include "model/json.h"
#include "run/warden.h"

namespace leasehold::cli {
namespace {

constexpr const char* row_command_help =
    "After --: the program and its arguments; no shell is involved. Stdin has the row as one JSON object; the "
    "environment has LEASEHOLD_TABLE, LEASEHOLD_ROW (the values of the key columns, one per line), _ROW_TOKEN, "
    "_ROW_DB, _KEY, _TOKEN, _EXPIRES_AT and _DB. Exit code 0 completes the row, 75 releases it, any other fails it, "
    "with the end of stderr as its text. "
    "Whatever happens to this process, leasehold kills the command and all it started before the lease expires";

struct RowWorkOptions {
  std::string table;
  std::string holder;
  int concurrency = 1;
  std::optional<Duration> ttl;
  Duration grace = default_grace;
  bool once = false;
  bool drain = false;
  bool verbose = false;
  std::string program;
  std::vector<std::string> command;

  [[nodiscard]] WorkUntil until() const {
    return once ? WorkUntil::once : drain ? WorkUntil::empty : WorkUntil::stopped;
  }
};

std::string joined(const RowKey& key, std::string_view separator) { return fmt::to_string(fmt::join(key, separator)); }

/// Runs the rows' commands, each on the thread that calls it.
class RowCommand {
 public:
  RowCommand(CommandRunner& runner, std::string table, std::string url, bool verbose)
      : runner_(runner), table_(std::move(table)), url_(std::move(url)), verbose_(verbose) {}

  Verdict run(const RowGrant& row, RowContext& context) {
    const auto started = BootClock::now();
    auto verdict = run_command(row, context);
    const bool failed = verdict.kind == Verdict::Kind::fail;
    if (verbose_ || failed) {
      log_outcome({.what = fmt::format("row {} of {}", printable(joined(row.key, " ")), printable(table_)),
                   .came_to = described(verdict, context),
                   .took = BootClock::now() - started,
                   .error = failed ? std::string_view(verdict.text) : std::string_view()});
    }
    return verdict;
  }

 private:
  static std::string described(const Verdict& verdict, const RowContext& context) {
    if (verdict.kind == Verdict::Kind::complete) return "completed";
    if (verdict.kind == Verdict::Kind::fail) return "failed";
    return context.stop_reason() == StopReason::lost ? "was lost" : "was released";
  }

  Verdict run_command(const RowGrant& row, RowContext& context) {
    CommandWork work{.name = "row " + printable(joined(row.key, " ")),
                     .environment = wrapper_variables(held::row, {.key = joined(row.key, "\n"),
                                                                  .token = row.token,
                                                                  .expires_at = expires_at(context.trusted_until()),
                                                                  .url = url_}),
                     .stop = context.stop_token(),
                     .trusted_until = [&context] { return context.trusted_until(); }};
    work.environment.push_back("LEASEHOLD_TABLE=" + table_);
    auto streams = CommandStreams::open({.input = row.row + "\n"}, [](std::string_view) {});
    if (!streams) {
      runner_.report_shortage(work.name, streams.error().message);
      return Verdict::release();
    }
    const auto ending = runner_.run(work, *streams);
    if (!ending || ending->kind == run::Ending::Kind::lease_lost || ending->out_of_resources())
      return Verdict::release();
    if (ending->kind == run::Ending::Kind::exited && ending->exit_code == 0) return Verdict::complete();
    if (ending->exit_code == retry_later_code) return Verdict::release();
    return Verdict::fail(failure_text(*ending, streams->error_tail()));
  }

  CommandRunner& runner_;
  const std::string table_;
  const std::string url_;
  const bool verbose_;
};

void print_row_summary(const Context& context, const RowWorkSummary& summary) {
  if (context.json) {
    print_line(model::json_object({{"claimed", summary.claimed},
                                   {"completed", summary.completed},
                                   {"failed", summary.failed},
                                   {"released", summary.released},
                                   {"lost", summary.lost}}));
    return;
  }
  std::string text;
  for (const auto& [count, what] : {std::pair{summary.completed, "completed"}, std::pair{summary.failed, "failed"},
                                    std::pair{summary.released, "released"}, std::pair{summary.lost, "lost"}}) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  }
  say("leasehold: {}", text.empty() ? "no row was claimed" : text);
}

int conclude_rows(const Context& context, const RowWorkOptions& options, const RowWorkSummary& summary, int signal) {
  const bool only_refused = options.once && summary.claimed == 0 && summary.refusal;
  if (!only_refused) print_row_summary(context, summary);
  // It has no end of its own, so a requested stop is a success.
  if (options.until() == WorkUntil::stopped) return exit_code::ok;
  if (signal != 0 && !only_refused) return exit_code_after(signal);
  if (!options.once) return exit_code::ok;
  if (only_refused) return report(context, *summary.refusal);
  if (summary.completed > 0) return exit_code::ok;
  return summary.lost > 0 ? exit_code::lost : exit_code::failure;
}

int work_on_rows(const Context& context, const RowWorkOptions& options, const run::Warden& warden) {
  CommandStops stops;
  const SteppedStop stop(stops, options.grace);
  const auto url = context.store_url();
  if (!url) return report(context, url.error());
  const auto rows = Rows::open(*url, options.table);
  if (!rows) return report(context, rows.error());
  const auto ttl = options.ttl.value_or(rows->ttl());
  CommandRunner runner({.program = options.command.front(), .ttl = ttl, .grace = fitting_grace(options.grace, ttl)},
                       warden, stops);
  RowCommand command(runner, rows->table(), with_absolute_path(*url), options.verbose);
  RowWorker worker(*rows, {.concurrency = options.concurrency,
                           .ttl = options.ttl,
                           .grace = without_end,
                           .until = options.until(),
                           .holder = holder_guarded_by(warden.process(), options.holder),
                           .on_trouble = [](const Error& error) { say("leasehold: {}", printable(error.message)); }});
  const auto summary =
      worker.run([&command](const RowGrant& row, RowContext& row_context) { return command.run(row, row_context); },
                 stops.claiming.get_token());
  if (!summary) return report(context, summary.error());
  if (runner.fatal_code() != 0) return runner.fatal_code();
  return conclude_rows(context, options, *summary, stop.signal());
}

int run_row_work(const Context& context, const RowWorkOptions& options) {
  // First of all, before there is a thread or a connection that a fork would copy.
  auto warden = run::Warden::fork(options.command);
  if (!warden) return report(context, warden.error());
  return work_on_rows(context, options, **warden);
}

void add_row_work_options(CLI::App& command, RowWorkOptions& options) {
  add_name(command, "TABLE", options.table, "The adopted table")->check(not_empty);
  add_number(command, "-c,--concurrency", options.concurrency, 1, bounds::max_concurrency,
             "Commands at once (default 1)");
  add_duration(command, "--ttl", options.ttl, "How long the lease lasts without a heartbeat (default: the table's)");
  add_duration(command, "--grace", options.grace,
               fmt::format("Time for running commands to finish when this process is stopped, and between "
                           "SIGTERM and SIGKILL (default {}; between the signals at most a third of the ttl)",
                           format_duration(options.grace)));
  add_holder(command, options.holder);
  command.add_flag("-v,--verbose", options.verbose, "Log every outcome to stderr (default: failures)");
  auto* once =
      command.add_flag("--once", options.once, "Run one row, then exit: 0 completed, 1 not completed, 3 none, 76 lost");
  command.add_flag("--drain", options.drain, "Exit when no row can be claimed")->excludes(once);
}

}  // namespace

void add_row_work(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "work",
                              "Run a command for every row of an adopted table; kill it before its lease expires",
                              {"leasehold row work sync_jobs -c 4 -- ./load",
                               R"(leasehold row work sync_jobs --drain -- sh -c 'jq -r .matrix_id | xargs ./load')"});
  auto options = std::make_shared<RowWorkOptions>();
  add_row_work_options(*command, *options);
  // The parser knows only the program; prefix_command leaves the words after it unchanged.
  command->prefix_command();
  command->add_option("COMMAND", options->program, row_command_help)->required()->type_name("");
  command->callback([&context, options, command] {
    options->command = words_after_mark(
        *command, context, {"TABLE", options->table, "leasehold row work TABLE -- COMMAND..."}, options->program);
    context.action = [&context, options] { return run_row_work(context, *options); };
  });
}

}  // namespace leasehold::cli
