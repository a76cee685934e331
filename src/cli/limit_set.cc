// leasehold limit set: the rate that everybody keeps.
#include <memory>

#include "cli/command.h"
#include "cli/limit_options.h"
#include "cli/report.h"

namespace leasehold::cli {
namespace {

struct LimitSetOptions {
  std::string name;
  Duration every{};
  int burst = 1;
};

int set(const Context& context, const LimitSetOptions& options) {
  auto store = context.open_or_make_store();
  if (!store) return report(context, store.error());
  const auto limits = store->limits();
  if (const auto done = limits.set(options.name, options.every, options.burst); !done) {
    return report(context, done.error());
  }
  return print_limit(context, limits.show(options.name));
}

}  // namespace

void add_limit_set(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "set", "Say at which rate turns are given, to whoever asks",
                              {"leasehold limit set orders-api --every 750ms",
                               "leasehold limit set mail --every 6s --burst 10    # ten a minute, also all at once"});
  auto options = std::make_shared<LimitSetOptions>();
  add_limit_name(*command, options->name);
  add_duration(*command, "--every", options->every, "Between two turns")->required();
  add_number(*command, "--burst", options->burst, 1, max_burst,
             "So many turns at once after a time without any (default 1)");
  set_action(*command, context, [&context, options] { return set(context, *options); });
}

}  // namespace leasehold::cli
