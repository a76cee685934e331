// leasehold schedule heartbeat: a run goes on.
#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/schedule_options.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct ScheduleHeartbeatOptions {
  NamedRun run;
  Duration ttl{};
};

int heartbeat(const Context& context, const ScheduleHeartbeatOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto grant = store->schedules().heartbeat(options.run.name, options.run.token, options.ttl);
  if (!grant) return report(context, grant.error());
  if (context.json) {
    print_line(wire::to_json(*grant));
  } else {
    print("extended {}  until {} ({})", printable(grant->key), local_time(grant->expires_at, grant->acquired_at),
          format_duration(grant->ttl));
  }
  return exit_code::ok;
}

}  // namespace

void add_schedule_heartbeat(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "heartbeat", "Say that a run goes on; one that has expired is lost (exit code 76)",
                  {"leasehold schedule heartbeat refresh --token 1763200000000000",
                   "LEASEHOLD_TOKEN=$token leasehold schedule heartbeat refresh --lease 10m || exit"});
  auto options = std::make_shared<ScheduleHeartbeatOptions>();
  add_named_run(*command, options->run);
  add_duration(*command, "--lease", options->ttl, "A new length for the lease (default: it keeps its own)");
  set_action(*command, context, [&context, options] { return heartbeat(context, *options); });
}

}  // namespace leasehold::cli
