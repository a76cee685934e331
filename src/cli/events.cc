// leasehold events: what happened, and with --follow what happens.
#include <memory>
#include <set>
#include <thread>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/stop_signals.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct Options {
  EventFilter filter;
  bool follow = false;
};

std::string told(const Event& event, Timestamp now) {
  // The holder is who did it, unless it was done to the holder.
  const bool suffered = event.what == "revoked" || event.what == "expired";
  auto line = fmt::format("{}  {} {}  {}", local_time(event.at, now), event.kind, printable(event.key), event.what);
  if (!event.holder.empty()) line += fmt::format("  {} {}", suffered ? "from" : "by", printable(event.holder));
  if (!event.previous_holder.empty()) line += fmt::format(" from {}", printable(event.previous_holder));
  if (event.token.value != 0) line += fmt::format("  token {}", event.token.value);
  if (!event.detail.empty()) line += fmt::format("  ({})", printable(event.detail));
  return line;
}

void print_event(const Context& context, const Event& event) {
  print_line(context.json ? wire::to_json(event) : told(event, wall_clock()));
}

/// A transaction takes its event's id before it commits, so a lower id may appear after a higher one.
/// A trailing window of ids is therefore read again, and what was shown already is dropped.
class Follower {
 public:
  Follower(const Context& context, const Store& store, EventFilter filter)
      : context_(context), store_(store), filter_(std::move(filter)) {}

  int run() {
    auto first = store_.events(filter_);
    if (!first) return report(context_, first.error());
    // Older ones were cut off and stay so.
    if (first->size() == static_cast<std::size_t>(filter_.limit)) floor_ = first->front().id - 1;
    show(*first);
    // From here on nothing is left out, however much comes between two looks.
    filter_.limit = most_at_once;
    while (stop_signal() == 0) {
      store_.wait_for_change(std::chrono::milliseconds(250));
      filter_.after_id = std::max<std::int64_t>(newest_ - window, floor_);
      auto events = store_.events(filter_);
      if (!events && !may_come_back(events.error())) return report(context_, events.error());
      if (events) show(*events);
    }
    return exit_code::ok;
  }

 private:
  static constexpr std::int64_t window = 1'000;
  static constexpr int most_at_once = 100'000;

  void show(const std::vector<Event>& events) {
    unreachable_said_ = false;
    for (const auto& event : events) {
      if (!shown_.insert(event.id).second) continue;
      newest_ = std::max(newest_, event.id);
      print_event(context_, event);
    }
    shown_.erase(shown_.begin(), shown_.lower_bound(newest_ - window));
  }

  bool may_come_back(const Error& error) {
    if (error.code != Errc::unavailable && error.code != Errc::in_doubt) return false;
    if (!unreachable_said_) say("leasehold: {}; trying again", printable(error.message));
    unreachable_said_ = true;
    std::this_thread::sleep_for(std::chrono::seconds(1));
    return true;
  }

  const Context& context_;
  const Store& store_;
  EventFilter filter_;
  std::set<std::int64_t> shown_;
  std::int64_t newest_ = 0;
  std::int64_t floor_ = 0;
  bool unreachable_said_ = false;
};

int show_events(const Context& context, const Options& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  if (options.follow) {
    stop_on_signals();
    return Follower(context, *store, options.filter).run();
  }
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
  auto options = std::make_shared<Options>();
  command->add_flag("-f,--follow", options->follow, "Go on with what happens, until interrupted");
  command->add_option("--key", options->filter.key, "Only events of this key")->type_name("KEY");
  add_number(*command, "--limit", options->filter.limit, 1, 1'000'000, "The newest N (default 100)");
  set_action(*command, context, [&context, options] { return show_events(context, *options); });
}

}  // namespace leasehold::cli
