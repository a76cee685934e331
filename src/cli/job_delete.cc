// leasehold job delete: forget a job.
#include <memory>

#include "cli/command.h"
#include "cli/consent.h"
#include "cli/job_options.h"
#include "cli/print.h"
#include "cli/report.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct JobDeleteOptions {
  JobId id = 0;
  Consent consent;
};

int show_what_would_go(const Context& context, const Store& store, JobId id) {
  const auto job = store.jobs().show(id);
  if (!job) return report(context, job.error());
  const bool held = job->state == JobState::running || job->state == JobState::expired;
  if (context.json) {
    print_line(wire::to_json(*job));
  } else if (held) {
    say("job {} is {}: it cannot be deleted, cancel it first", id, to_string(job->state));
  } else {
    print("would delete {} of {}, which is {}, and {}", id, printable(job->queue), to_string(job->state),
          counted(job->attempts, "attempt"));
  }
  return held ? exit_code::held : exit_code::ok;
}

int remove(const Context& context, const JobDeleteOptions& options) {
  if (!options.consent.given()) {
    return ask_for_yes(context, "delete forgets the job and its history");
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  if (options.consent.dry_run) return show_what_would_go(context, *store, options.id);
  const auto removed = store->jobs().remove(options.id);
  if (!removed) return report(context, removed.error());
  if (context.json) {
    print_line(wire::object({{"id", options.id}, {"deleted", true}}));
  } else {
    print("deleted {}", options.id);
  }
  return exit_code::ok;
}

}  // namespace

void add_job_delete(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "delete", "Forget a job that is not running, with payload, result and history",
                  {"leasehold job delete 17 --dry-run", "leasehold job delete 17 --yes"});
  auto options = std::make_shared<JobDeleteOptions>();
  add_job_id(*command, options->id);
  add_consent(*command, options->consent);
  set_action(*command, context, [&context, options] { return remove(context, *options); });
}

}  // namespace leasehold::cli
