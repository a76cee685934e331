// leasehold limit rm: forget a rate limit.
#include <memory>

#include "cli/command.h"
#include "cli/limit_options.h"
#include "cli/print.h"
#include "cli/report.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

int remove(const Context& context, const std::string& name) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  if (const auto removed = store->limits().remove(name); !removed)
    return report(context, without_advice(removed.error()));
  if (context.json) {
    print_line(wire::object({{"name", name}, {"removed", true}}));
  } else {
    print("removed {}", printable(name));
  }
  return exit_code::ok;
}

}  // namespace

void add_limit_rm(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "rm", "Forget a rate limit; turns that were given stay given",
                              {"leasehold limit rm orders-api"});
  auto name = std::make_shared<std::string>();
  add_limit_name(*command, *name);
  set_action(*command, context, [&context, name] { return remove(context, *name); });
}

}  // namespace leasehold::cli
