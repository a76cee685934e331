// leasehold session heartbeat: alive; with --progress also working.
#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/session_options.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct SessionHeartbeatOptions {
  NamedSession session;
  std::optional<std::string> progress;
};

int heartbeat(const Context& context, const SessionHeartbeatOptions& options) {
  const auto token = options.session.needed_proof();
  if (!token) return report(context, token.error());
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  SessionHeartbeat heartbeat;
  if (options.progress) heartbeat.progress = *options.progress;
  const auto grant = store->sessions().heartbeat(options.session.id, *token, heartbeat);
  if (!grant) return report(context, grant.error());
  if (context.json) {
    print_line(wire::to_json(*grant));
  } else {
    print("extended {}  until {} ({})", printable(grant->key), local_time(grant->expires_at, wall_clock()),
          format_duration(grant->ttl));
  }
  return exit_code::ok;
}

}  // namespace

void add_session_heartbeat(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "heartbeat",
                  "Say that a session is alive, with --progress also that it works; a stale one is lost (exit code 76)",
                  {"leasehold session heartbeat --progress 'tests are green'    # under `session run`",
                   "leasehold session heartbeat s-81f --token 1763200000000000"});
  auto options = std::make_shared<SessionHeartbeatOptions>();
  add_named_session(*command, options->session, true);
  command
      ->add_option("--progress", options->progress,
                   "What has been done, up to 4096 bytes: the session is working, and not parked any more")
      ->type_name("TEXT");
  set_action(*command, context, [&context, options] { return heartbeat(context, *options); });
}

}  // namespace leasehold::cli
