// leasehold chunk plan: set the chunks of a sync.
#include <memory>

#include "act/answers.h"
#include "base/text.h"
#include "cli/bind/chunk_options.h"
#include "cli/bind/job_options.h"
#include "cli/command.h"
#include "cli/print/live.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/run/wrapper_variables.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

/// Includes both ends.
struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

struct ChunkPlanOptions {
  std::string set;
  std::string file;
  std::optional<Range> range;
  std::optional<std::int64_t> size;
  PlanOptions plan;
  std::optional<JobId> job;
  std::optional<Token> token;
};

void take_range(std::optional<Range>& range, const std::string& text) {
  const auto dots = text.find("..");
  const auto first = whole_number(text.substr(0, dots));
  const auto last = dots == std::string::npos ? std::nullopt : whole_number(text.substr(dots + 2));
  if (!first || !last || *last < *first) {
    throw CLI::ValidationError("--range", leasehold::quoted(text) + " is not a range: write 1..1000000");
  }
  range = Range{*first, *last};
}

void take_size(std::optional<std::int64_t>& size, const std::string& text) {
  size = whole_number(text);
  if (!size || *size < 1) throw CLI::ValidationError("--size", leasehold::quoted(text) + " is not a number from 1");
}

void take_job(std::optional<JobId>& job, const std::string& text) {
  job = whole_number(text);
  if (!job || *job < 1) throw CLI::ValidationError("--job", leasehold::quoted(text) + " is not the number of a job");
}

Result<std::vector<PlannedChunk>> planned_chunks(const ChunkPlanOptions& options) {
  if (options.file.empty() == !options.range) return invalid("use either --file FILE, or --range A..B --size N");
  if (options.range.has_value() != options.size.has_value()) return invalid("--range and --size go together");
  return options.range ? plan_range(options.range->first, options.range->last, *options.size) : read_plan(options.file);
}

/// Under `leasehold work` the caller holds the running job, and its token is in the environment.
std::optional<Token> token_of(const ChunkPlanOptions& options) {
  if (options.token || !options.job || !is_own_job(*options.job)) return options.token;
  return token_from_environment(held::job, true);
}

Error not_tied(const std::string& set, Error why) {
  why.message = fmt::format("{} is planned, but the job does not wait for it: {}", leasehold::quoted(set), why.message);
  return why;
}

Result<act::PlanReport> plan_and_tie(const Chunks& chunks, const ChunkPlanOptions& options,
                                     const std::vector<PlannedChunk>& planned) {
  ProgressLine progress;
  progress.show(
      [&] { return fmt::format("planning {}", counted(static_cast<std::int64_t>(planned.size()), "chunk")); });
  auto outcome = chunks.plan(options.set, planned, options.plan);
  if (!outcome) return std::move(outcome).error();
  act::PlanReport report{.outcome = *outcome, .job_id = options.job};
  if (!options.job) return report;
  const auto tied = chunks.tie_job(options.set, *options.job, token_of(options));
  if (!tied) return not_tied(options.set, tied.error());
  report.job_state = *tied;
  return report;
}

std::string what_changed(const PlanOutcome& outcome) {
  std::string text;
  for (const auto& [count, what] : {std::pair{outcome.added, "added"}, std::pair{outcome.replaced, "replaced"},
                                    std::pair{outcome.removed, "removed"}, std::pair{outcome.kept, "kept"}}) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  }
  return text.empty() ? "nothing changed" : text;
}

void print_report(const act::PlanReport& report) {
  const auto& outcome = report.outcome;
  print("planned {}: {}; {} in all", printable(outcome.set), what_changed(outcome), counted(outcome.total, "chunk"));
  if (outcome.differing > 0) {
    say("kept with a different spec: {}; a new --planner version replaces the spec",
        counted(outcome.differing, "chunk"));
  }
  if (outcome.left > 0) {
    say("held and left unchanged: {}; plan again when the loaders are done", counted(outcome.left, "chunk"));
  }
  if (!report.job_id || !report.job_state) return;
  if (*report.job_state == JobState::blocked) {
    print("job {} waits for it", *report.job_id);
  } else {
    print("job {} has {}: the set is final already", *report.job_id, to_string(*report.job_state));
  }
}

int plan(const Context& context, const ChunkPlanOptions& options) {
  const auto planned = planned_chunks(options);
  if (!planned) return report(context, planned.error());
  auto store = context.open_or_make_store();
  if (!store) return report(context, store.error());
  const auto done = plan_and_tie(store->chunks(), options, *planned);
  if (!done) return report(context, done.error());
  if (context.json) {
    print_line(model::to_json(*done));
  } else {
    print_report(*done);
  }
  return exit_code::ok;
}

void add_what_to_plan(CLI::App& command, ChunkPlanOptions& options) {
  auto* file = command
                   .add_option("--file", options.file,
                               "One chunk per line: any JSON is its spec; its member \"key\" is the key, else made "
                               "from the line; - is standard input")
                   ->check(not_empty)
                   ->type_name("FILE");
  command
      .add_option_function<std::string>(
          "--range", [&options](const std::string& text) { take_range(options.range, text); },
          "Range of numbers, both ends included; keys are like 1-10000")
      ->type_name("A..B")
      ->excludes(file);
  command
      .add_option_function<std::string>(
          "--size", [&options](const std::string& text) { take_size(options.size, text); },
          "Numbers of the range per chunk")
      ->type_name("N");
}

}  // namespace

void add_chunk_plan(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "plan",
      "Plan the chunks of a sync; repeating a plan changes nothing, and loaded chunks stay loaded",
      {"leasehold chunk plan orders --range 1..1000000 --size 10000",
       "leasehold chunk plan files --file files.jsonl --max-failures 5 --backoff 5s..5m",
       "./list-pages | leasehold chunk plan pages --file - --planner 2    # replace chunks that differ from the plan",
       "leasehold chunk plan orders --range 1..500 --size 50 --job 17    # job 17 completes when all is loaded"});
  auto options = std::make_shared<ChunkPlanOptions>();
  add_set_name(*command, options->set);
  add_what_to_plan(*command, *options);
  command
      ->add_option("--planner", options->plan.planner,
                   "Version of the planner; a new version also replaces and removes chunks (default 1)")
      ->check(not_empty)
      ->type_name("VERSION");
  add_set_settings(*command, options->plan.settings);
  command
      ->add_option_function<std::string>(
          "--job", [options](const std::string& text) { take_job(options->job, text); },
          "This job waits for the set: it completes with it, or fails if it ends partial")
      ->type_name("ID");
  add_optional_token(*command, options->token,
                     "The job's token, if the caller holds it (under `leasehold work`: from LEASEHOLD_JOB_TOKEN)");
  set_action(*command, context, [&context, options] { return plan(context, *options); });
}

}  // namespace leasehold::cli
