// leasehold lock heartbeat: extend a live lease.
#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct LockHeartbeatOptions {
  std::string name;
  Token token;
  Duration ttl{};
};

int heartbeat(const Context& context, const LockHeartbeatOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  auto grant = store->locks().heartbeat(options.name, options.token, options.ttl);
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

void add_lock_heartbeat(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "heartbeat",
                              "Extend a lock that is still held; one that has expired is lost (exit code 76)",
                              {"leasehold lock heartbeat deploy --token 1763200000000000",
                               "LEASEHOLD_TOKEN=$token leasehold lock heartbeat deploy --ttl 2m || exit"});
  auto options = std::make_shared<LockHeartbeatOptions>();
  add_lock_name(*command, options->name);
  add_token(*command, options->token);
  add_duration(*command, "--ttl", options->ttl, "A new ttl for the lease (default: it keeps its own)");
  set_action(*command, context, [&context, options] { return heartbeat(context, *options); });
}

}  // namespace leasehold::cli
