// leasehold job errors: what went wrong lately.
#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/table.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct JobErrorsOptions {
  std::string queue;
  int limit = 20;
};

void print_table(const std::vector<JobError>& errors) {
  if (errors.empty()) return say_line("no errors");
  Table table({"AT",
               {"JOB", Column::to_the_right},
               {"QUEUE", Column::may_be_cut},
               "OUTCOME",
               {"HOLDER", Column::may_be_cut},
               {"ERROR", Column::may_be_cut}});
  for (const auto& error : errors) {
    table.add({local_time(error.at, wall_clock()), std::to_string(error.id), printable(error.queue), error.outcome,
               error.holder.empty() ? "-" : printable(error.holder), printable(error.error)});
  }
  table.print();
}

int show_errors(const Context& context, const JobErrorsOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto errors = store->jobs().errors(options.queue, options.limit);
  if (!errors) return report(context, errors.error());
  if (context.json) {
    print_line(wire::to_json(*errors));
  } else {
    print_table(*errors);
  }
  return exit_code::ok;
}

}  // namespace

void add_job_errors(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "errors", "Tell what went wrong lately, the newest first",
                              {"leasehold job errors", "leasehold job errors mail --limit 100",
                               "leasehold job errors --json | jq -r '.[].error' | sort | uniq -c | sort -n"});
  auto options = std::make_shared<JobErrorsOptions>();
  command->add_option("QUEUE", options->queue, "Only jobs of this queue")->type_name("");
  add_number(*command, "--limit", options->limit, 1, 1'000'000, "The newest N (default 20)");
  set_action(*command, context, [&context, options] { return show_errors(context, *options); });
}

}  // namespace leasehold::cli
