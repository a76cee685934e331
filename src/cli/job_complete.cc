// leasehold job complete: the work is done.
#include <memory>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/job_options.h"
#include "cli/job_verdict.h"
#include "cli/report.h"
#include "core/job_limits.h"

namespace leasehold::cli {
namespace {

struct JobCompleteOptions {
  HeldJob job;
  std::string result;
  std::string result_file;
  NextClaim next;
};

int complete(const Context& context, JobCompleteOptions& options) {
  if (!options.result_file.empty()) {
    auto bytes = read_bytes(options.result_file, max_result_bytes);
    if (!bytes) return report(context, bytes.error());
    options.result = std::move(*bytes);
  }
  return settle(context, options.job, Verdict::complete(options.result), options.next);
}

}  // namespace

void add_job_complete(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "complete", "Say that a job is done; refused once somebody else has it (exit code 76)",
      {"leasehold job complete 17 --token 1763200000000000",
       "./resize | leasehold job complete 17 --token \"$token\" --result-file -",
       "read -r id token < <(leasehold job complete \"$id\" --token \"$token\" --next mail -q)"});
  auto options = std::make_shared<JobCompleteOptions>();
  add_held_job(*command, options->job);
  auto* result =
      command->add_option("--result", options->result, "What came of it; see `job result`")->type_name("TEXT");
  command->add_option("--result-file", options->result_file, "The same from a file, up to 1 MiB; - is standard input")
      ->check(not_empty)
      ->type_name("FILE")
      ->excludes(result);
  add_next_claim(*command, options->next);
  set_action(*command, context, [&context, options] { return complete(context, *options); });
}

}  // namespace leasehold::cli
