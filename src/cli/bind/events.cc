// leasehold events, and events for other commands.
#include <memory>
#include <optional>
#include <set>

#include "cli/command.h"
#include "cli/print/list.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/signals.h"
#include "cli/store_trouble.h"
#include "model/json.h"

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

/// Prints events until this process is stopped.
class Follower {
 public:
  Follower(const Context& context, const Store& store, EventFilter filter, std::optional<EventMark> after)
      : context_(context), store_(store), filter_(std::move(filter)), after_(after) {}

  int run() {
    const StopSignals signals(stop_);
    // The reader begins before the list is read, so no event falls between them.
    auto reader = store_.follow_events({.after = after_, .key = filter_.key, .max = most_at_once});
    if (!reader) return report(context_, reader.error());
    if (!after_) {
      auto first = store_.events(filter_);
      if (!first) return report(context_, first.error());
      show(first->items);
    }
    while (!stop_.stop_requested() && printed_well()) {
      auto events = reader->next();
      if (events) {
        trouble_.end();
        show(*events);
        if (events->empty()) store_.wait_for_change(std::chrono::milliseconds(250));
      } else if (!trouble_.passes(events.error(), stop_.get_token())) {
        return report(context_, events.error());
      }
    }
    return exit_code::ok;
  }

 private:
  static constexpr int most_at_once = 1'000;

  void show(const std::vector<Event>& events) {
    for (const auto& event : events) {
      if (event.mark.empty()) {
        listed_.insert(event.id);
      } else if (listed_.contains(event.id)) {
        continue;
      }
      print_event(context_, event);
    }
  }

  const Context& context_;
  const Store& store_;
  EventFilter filter_;
  std::optional<EventMark> after_;
  std::set<std::int64_t> listed_;  ///< by the list; the reader may return the newest of them, too
  StoreTrouble trouble_;
  const std::stop_source stop_;
};

}  // namespace

void print_event(const Context& context, const Event& event) {
  print_line(context.json ? model::to_json(event) : line_of(event, wall_clock()));
}

int follow_events(const Context& context, const Store& store, const EventFilter& filter,
                  const std::optional<EventMark>& after) {
  return Follower(context, store, filter, after).run();
}

// leasehold events: past events; with --follow, new ones, too.
namespace {

struct EventsOptions {
  EventFilter filter;
  bool follow = false;
  std::string resume;
};

int show_events(const Context& context, const EventsOptions& options) {
  std::optional<EventMark> after;
  if (!options.resume.empty()) {
    auto mark = parse_event_mark(options.resume);
    if (!mark) return report(context, mark.error());
    after = *mark;
  }
  auto store = options.follow ? context.open_or_make_store() : context.open_store();
  if (!store) return report(context, store.error());
  if (options.follow) return follow_events(context, *store, options.filter, after);
  auto events = store->events(options.filter);
  if (!events) return report(context, events.error());
  if (context.json) {
    print_line(model::to_json(*events));
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
                               "leasehold events --follow --json | jq -r .what     # one object per line",
                               "leasehold events --follow --json --resume 742-0    # go on behind a `mark`"});
  auto options = std::make_shared<EventsOptions>();
  auto* follow = command->add_flag("-f,--follow", options->follow, "Print new events, too, until interrupted");
  command
      ->add_option("--resume", options->resume,
                   "With --follow: go on behind the event with this `mark` and miss none; some may come again")
      ->needs(follow)
      ->check(not_empty)
      ->type_name("MARK");
  command->add_option("--key", options->filter.key, "Only events of this key")->check(not_empty)->type_name("KEY");
  add_paging(*command, options->filter.max, options->filter.page);
  set_action(*command, context, [&context, options] { return show_events(context, *options); });
}

}  // namespace leasehold::cli
