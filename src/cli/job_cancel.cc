// leasehold job cancel: a job that is no longer wanted.
#include <memory>

#include "cli/command.h"
#include "cli/job_options.h"
#include "cli/print.h"
#include "cli/report.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct JobCancelOptions {
  JobId id = 0;
  std::string reason;
};

int cancel(const Context& context, const JobCancelOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto state = store->jobs().cancel(options.id, options.reason);
  if (!state) return report(context, state.error());
  const bool requested = *state == JobState::running;
  const bool too_late = *state == JobState::completed || *state == JobState::failed;
  if (context.json) {
    print_line(wire::object({{"id", options.id}, {"state", to_string(*state)}, {"requested", requested}}));
  } else if (too_late) {
    say("job {} has {} already: there is nothing to cancel", options.id, to_string(*state));
  } else if (requested) {
    print("requested {}: its holder is told with the next heartbeat", options.id);
  } else {
    print("cancelled {}", options.id);
  }
  return too_late ? exit_code::nothing_to_do : exit_code::ok;
}

}  // namespace

void add_job_cancel(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "cancel",
                  "Stop a job: at once where it waits; where it runs, its holder is told with the next heartbeat",
                  {"leasehold job cancel 17", "leasehold job cancel 17 --reason 'order was withdrawn'"});
  auto options = std::make_shared<JobCancelOptions>();
  add_job_id(*command, options->id);
  command->add_option("--reason", options->reason, "Why; kept with the event")->check(not_empty)->type_name("TEXT");
  set_action(*command, context, [&context, options] { return cancel(context, *options); });
}

}  // namespace leasehold::cli
