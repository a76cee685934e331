// leasehold events, and events for other commands.
#include <algorithm>
#include <memory>
#include <set>

#include "cli/command.h"
#include "cli/print/list.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/signals.h"
#include "cli/store_trouble.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

std::string line_of(const Event& event, Timestamp now) {
  // The holder is the actor, except if it is the one affected.
  const bool suffered = event.what == "revoked" || event.what == "expired";
  auto line = fmt::format("{}  {} {}  {}", local_time(event.at, now), event.kind, printable(event.key), event.what);
  if (event.holder) line += fmt::format("  {} {}", suffered ? "from" : "by", printable(event.holder->name));
  if (event.previous_holder) line += fmt::format(" from {}", printable(event.previous_holder->name));
  if (event.token.value != 0) line += fmt::format("  token {}", event.token.value);
  if (!event.detail.empty()) line += fmt::format("  ({})", printable(event.detail));
  return line;
}

/// A transaction takes its event's id before it commits, so a lower id may appear after a higher one. So this reads a
/// trailing window of ids again, and drops events that were already shown.
class Follower {
 public:
  Follower(const Context& context, const Store& store, EventFilter filter)
      : context_(context), store_(store), filter_(std::move(filter)) {}

  int run() {
    const StopSignals signals(stop_);
    auto first = store_.events(filter_);
    if (!first) return report(context_, first.error());
    // Older events were cut off and stay so.
    if (first->next) floor_ = first->front().id - 1;
    show(*first);
    // From here on no event is left out, however many come between two looks.
    filter_.max = most_at_once;
    while (!stop_.stop_requested() && printed_well()) {
      store_.wait_for_change(std::chrono::milliseconds(250));
      filter_.after_id = std::max<std::int64_t>(newest_ - window, floor_);
      auto events = store_.events(filter_);
      if (events) {
        show(*events);
      } else if (!trouble_.passes(events.error(), stop_.get_token())) {
        return report(context_, events.error());
      }
    }
    return exit_code::ok;
  }

 private:
  static constexpr std::int64_t window = 1'000;
  static constexpr int most_at_once = 100'000;

  void show(const Page<Event>& events) {
    trouble_.end();
    for (const auto& event : events) {
      if (!shown_.insert(event.id).second) continue;
      newest_ = std::max(newest_, event.id);
      print_event(context_, event);
    }
    shown_.erase(shown_.begin(), shown_.lower_bound(newest_ - window));
  }

  const Context& context_;
  const Store& store_;
  EventFilter filter_;
  std::set<std::int64_t> shown_;
  std::int64_t newest_ = 0;
  std::int64_t floor_ = 0;
  StoreTrouble trouble_;
  const std::stop_source stop_;
};

}  // namespace

void print_event(const Context& context, const Event& event) {
  print_line(context.json ? wire::to_json(event) : line_of(event, wall_clock()));
}

int follow_events(const Context& context, const Store& store, const EventFilter& filter) {
  return Follower(context, store, filter).run();
}

// leasehold events: past events; with --follow, new ones, too.
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
    if (events->next) say("there are older events: continue with --page {}", *events->next);
  }
  return exit_code::ok;
}

}  // namespace

void add_events(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "events", "Show events: who took what from whom, when and why",
                              {"leasehold events --max 20", "leasehold events --key deploy",
                               "leasehold events --follow --json | jq -r .what     # one object per line"});
  auto options = std::make_shared<EventsOptions>();
  command->add_flag("-f,--follow", options->follow, "Print new events, too, until interrupted");
  command->add_option("--key", options->filter.key, "Only events of this key")->check(not_empty)->type_name("KEY");
  add_paging(*command, options->filter.max, options->filter.page);
  set_action(*command, context, [&context, options] { return show_events(context, *options); });
}

}  // namespace leasehold::cli
