// leasehold job settle: a verdict per line of a file, a thousand per commit.
#include <fmt/format.h>

#include <limits>
#include <memory>

#include "act/job_settle.h"
#include "cli/bind/job_options.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "model/bounds.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

constexpr std::size_t batch_verdicts = 1000;
/// A result in base64, with its keys around it.
constexpr std::size_t max_line_bytes = 2 * bounds::result_bytes;

struct JobSettleOptions {
  std::string file;
  int from_line = 1;
};

class Settler {
 public:
  Settler(const Jobs& jobs, LineReader& lines, const JobSettleOptions& options)
      : jobs_(jobs), lines_(lines), options_(options) {}

  /// Runs until the end or the first bad line; the lines before it are settled.
  Result<void> run() {
    while (true) {
      auto line = lines_.next(max_line_bytes);
      if (!line) return refuse_line(line.error());
      if (!*line) return settle_batch();
      if (lines_.line_number() < options_.from_line || (*line)->empty()) continue;
      auto given = model::from_json<act::JobVerdict>(**line, {}, wall_clock());
      auto settlement = given ? act::settlement_from(*given) : std::move(given).error();
      if (!settlement) return refuse_line(settlement.error());
      batch_.push_back(std::move(*settlement));
      if (batch_.size() < batch_verdicts) continue;
      if (auto settled = settle_batch(); !settled) return settled;
    }
  }

  [[nodiscard]] const act::JobsSettled& answers() const { return answers_; }

 private:
  Result<void> settle_batch() {
    const auto answers = jobs_.settle(batch_);
    if (!answers) return answers.error();
    act::add_answers(batch_, *answers, answers_);
    batch_.clear();
    return {};
  }

  Result<void> refuse_line(Error why) {
    why.message = fmt::format("line {}: {}", lines_.line_number(), why.message);
    if (auto settled = settle_batch(); !settled) return settled;
    return why;
  }

  const Jobs& jobs_;
  LineReader& lines_;
  const JobSettleOptions& options_;
  std::vector<Settlement> batch_;
  act::JobsSettled answers_;
};

/// The exit code is that of the first refusal.
int report_answers(const Context& context, const act::JobsSettled& answers) {
  int code = exit_code::ok;
  for (const auto& item : answers.items) {
    if (!item.error) continue;
    if (code == exit_code::ok) code = exit_code_of(*item.error);
    if (!context.json) say("job {}: {}", item.id, item.error->message);
  }
  if (context.json) {
    print_line(model::to_json(answers));
  } else {
    print("settled {}{}", counted(answers.settled, "job"),
          answers.refused > 0 ? fmt::format("; refused: {}", answers.refused) : "");
  }
  return code;
}

int settle_many(const Context& context, const JobSettleOptions& options) {
  auto lines = LineReader::open(options.file);
  if (!lines) return report(context, lines.error());
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto jobs = store->jobs();
  Settler settler(jobs, *lines, options);
  auto done = settler.run();
  if (done) return report_answers(context, settler.answers());
  auto why = std::move(done).error();
  why.message += fmt::format("; settled before it: {}", counted(settler.answers().settled, "job"));
  const int code = report(context, why);
  return code == exit_code::usage ? exit_code::failure : code;
}

}  // namespace

void add_job_settle(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "settle",
      "Settle a job for every line of a file, a thousand per commit; a lost one does not spoil the others",
      {"leasehold job settle verdicts.jsonl    # {\"id\":17,\"token\":1763200000000000,\"verdict\":\"complete\"}",
       "leasehold job claim mail -n 100 --json | jq -c '.jobs[] | {id, token, verdict: \"complete\"}' |\n"
       "    leasehold job settle -"});
  auto options = std::make_shared<JobSettleOptions>();
  command
      ->add_option("FILE", options->file,
                   "One JSON object per line: id, token, verdict (complete, fail, release or snooze), and result (or "
                   "result_base64), error, retryable, delay; - is standard input")
      ->required()
      ->type_name("");
  add_number(*command, "--from-line", options->from_line, 1, std::numeric_limits<int>::max(),
             "Skip the lines before N: their jobs are settled already");
  set_action(*command, context, [&context, options] { return settle_many(context, *options); });
}

}  // namespace leasehold::cli
