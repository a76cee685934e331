// leasehold session park: silence that was declared does not make a session stale.
#include <memory>

#include "cli/chunk_options.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/session_options.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct SessionParkOptions {
  NamedSession session;
  std::optional<Duration> silence;
  bool end = false;
};

int park(const Context& context, const SessionParkOptions& options) {
  if (options.silence.has_value() == options.end) {
    return report(context, {.code = Errc::invalid_argument, .message = "say either --for DURATION or --end"});
  }
  const auto token = options.session.needed_proof();
  if (!token) return report(context, token.error());
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto silence = options.silence.value_or(Duration::zero());
  const auto grant = store->sessions().park(options.session.id, *token, silence);
  if (!grant) return report(context, grant.error());
  if (context.json) {
    print_line(wire::to_json(*grant));
  } else if (options.end) {
    print("{} is not parked any more", printable(grant->key));
  } else {
    print("parked {} for {}: it is not stale before {}", printable(grant->key), format_duration(silence),
          local_time(grant->expires_at, wall_clock()));
  }
  return exit_code::ok;
}

}  // namespace

void add_session_park(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "park",
                              "Declare a silence, during which the session keeps its claims without a heartbeat",
                              {"leasehold session park --for 30m    # lunch; progress or --end ends it earlier",
                               "leasehold session park s-81f --token 1763200000000000 --end"});
  auto options = std::make_shared<SessionParkOptions>();
  add_named_session(*command, options->session, true);
  auto* silence = add_optional_duration(*command, "--for", options->silence, "For how long, up to 12h");
  command->add_flag("--end", options->end, "Not any more")->excludes(silence);
  set_action(*command, context, [&context, options] { return park(context, *options); });
}

}  // namespace leasehold::cli
