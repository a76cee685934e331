// leasehold events: what happened, and with --follow what happens.
#include <memory>

#include "cli/command.h"
#include "cli/event_follower.h"
#include "cli/print.h"
#include "cli/report.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct EventsOptions {
  EventFilter filter;
  bool follow = false;
};

int show_events(const Context& context, const EventsOptions& options) {
  auto store = options.follow ? context.open_or_make_store() : context.open_store();
  if (!store) return report(context, store.error());
  if (options.follow) return follow_events(context, *store, options.filter);
  auto events = store->events(options.filter);
  if (!events) return report(context, events.error());
  if (context.json) {
    print_line(wire::to_json(*events));
  } else {
    if (events->empty()) say_line("no events");
    for (const auto& event : *events) print_event(context, event);
  }
  return exit_code::ok;
}

}  // namespace

void add_events(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "events", "Tell what happened: who took what from whom, when and why",
                              {"leasehold events --limit 20", "leasehold events --key deploy",
                               "leasehold events --follow --json | jq -r .what     # one object per line"});
  auto options = std::make_shared<EventsOptions>();
  command->add_flag("-f,--follow", options->follow, "Go on with what happens, until interrupted");
  command->add_option("--key", options->filter.key, "Only events of this key")->check(not_empty)->type_name("KEY");
  add_number(*command, "--limit", options->filter.limit, 1, 1'000'000, "The newest N (default 100)");
  set_action(*command, context, [&context, options] { return show_events(context, *options); });
}

}  // namespace leasehold::cli
