// leasehold job retry: once more, now, with fresh budgets.
#include <memory>

#include "cli/command.h"
#include "cli/job_options.h"
#include "cli/print.h"
#include "cli/report.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

int retry(const Context& context, JobId id) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto state = store->jobs().retry(id);
  if (!state) return report(context, state.error());
  if (context.json) {
    print_line(wire::object({{"id", id}, {"state", to_string(*state)}}));
  } else {
    print("job {} is {}", id, to_string(*state));
  }
  return exit_code::ok;
}

}  // namespace

void add_job_retry(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "retry",
                              "Make a failed, cancelled or deferred job available now, with fresh budgets",
                              {"leasehold job retry 17", "leasehold job errors mail    # what there is to retry"});
  auto id = std::make_shared<JobId>();
  add_job_id(*command, *id);
  set_action(*command, context, [&context, id] { return retry(context, *id); });
}

}  // namespace leasehold::cli
