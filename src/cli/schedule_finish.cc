// leasehold schedule finish: how a run went.
#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/schedule_options.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct ScheduleFinishOptions {
  NamedRun run;
  bool ok = false;
  bool failed = false;
  std::string error;
  std::string counts;
};

void print_finished(const ScheduleFinishOptions& options, const Finished& finished) {
  print("finished {}  {}  next run: {}{}", printable(options.run.name), options.ok ? "ok" : "failed",
        with_distance(finished.next_run_at, finished.next_run_at - finished.next_in),
        finished.replayed ? "  (this was said before)" : "");
}

int finish(const Context& context, const ScheduleFinishOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto finished = store->schedules().finish(options.run.name, options.run.token,
                                                  {.ok = options.ok, .error = options.error, .counts = options.counts});
  if (!finished) return report(context, finished.error());
  if (context.json) {
    print_line(wire::to_json(options.run.name, *finished));
  } else {
    print_finished(options, *finished);
  }
  return exit_code::ok;
}

}  // namespace

void add_schedule_finish(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "finish",
                  "Say how a run went, which decides when the next one is; too late changes nothing (exit code 76)",
                  {R"(leasehold schedule finish refresh --token "$token" --ok --counts '{"rows":120}')",
                   "leasehold schedule finish refresh --token \"$token\" --fail --error 'source does not answer'"});
  auto options = std::make_shared<ScheduleFinishOptions>();
  add_named_run(*command, options->run);
  auto* ok = command->add_flag("--ok", options->ok, "It went well");
  auto* failed =
      command->add_flag("--fail", options->failed, "It did not: the next run comes after the pause for that");
  failed->excludes(ok);
  command->add_option("--error", options->error, "Why it failed, up to 64 KiB")->type_name("TEXT")->needs(failed);
  command->add_option("--counts", options->counts, "What the run has done: any JSON, up to 1 MiB")
      ->check(not_empty)
      ->type_name("JSON");
  command->callback([&context, options] {
    if (!options->ok && !options->failed) throw CLI::ValidationError("--ok, --fail", "one of them is needed");
    context.action = [&context, options] { return finish(context, *options); };
  });
}

}  // namespace leasehold::cli
