// leasehold lock release: give a lock up.
#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct LockReleaseOptions {
  std::string name;
  Token token;
};

int release(const Context& context, const LockReleaseOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  auto released = store->locks().release(options.name, options.token);
  if (!released) return report(context, released.error());
  if (context.json) {
    print_line(wire::object({{"released", true}, {"key", options.name}, {"token", options.token.value}}));
  } else {
    print("released {}", printable(options.name));
  }
  return exit_code::ok;
}

}  // namespace

void add_lock_release(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "release",
                              "Give a lock up; with a token that is not current nothing changes (exit code 76)",
                              {"leasehold lock release deploy --token 1763200000000000",
                               "LEASEHOLD_TOKEN=$token leasehold lock release deploy"});
  auto options = std::make_shared<LockReleaseOptions>();
  add_lock_name(*command, options->name);
  add_token(*command, options->token);
  set_action(*command, context, [&context, options] { return release(context, *options); });
}

}  // namespace leasehold::cli
