// leasehold limit show, ls, take, set, rm.
#include <CLI/CLI.hpp>

#include <memory>
#include <string>

#include "base/time_text.h"
#include "cli/bind/chunk_options.h"
#include "cli/command.h"
#include "cli/context.h"
#include "cli/print/live.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/table.h"
#include "cli/store_trouble.h"
#include "leasehold/limit.h"
#include "leasehold/limits.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

CLI::Option* add_limit_name(CLI::App& command, std::string& name) {
  return add_name(command, "NAME", name, "The rate limit");
}

void print_fields(const LimitInfo& limit) {
  print_field("limit", printable(limit.name));
  print_field("every", format_duration(limit.every));
  print_field("burst", std::to_string(limit.burst));
  print_field("next", limit.next_at > limit.store_now ? with_distance(limit.next_at, limit.store_now) : "at once");
  print_field("taken", std::to_string(limit.taken));
  if (!limit.taken_at) return;
  print_field("last", fmt::format("{} by {} (on {})", with_distance(*limit.taken_at, limit.store_now),
                                  printable(limit.holder), printable(limit.host)));
}

/// Prints it, or why there is none; gives the exit code.
int print_limit(const Context& context, const Result<LimitInfo>& limit) {
  if (!limit) return report(context, limit.error());
  if (context.json) {
    print_line(wire::to_json(*limit));
  } else {
    print_fields(*limit);
  }
  return exit_code::ok;
}

}  // namespace

// leasehold limit show: one rate limit, and whose turn it was.
namespace {

int show_limit(const Context& context, const std::string& name) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  return print_limit(context, store->limits().show(name));
}

}  // namespace

void add_limit_show(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "show",
      "Tell a rate limit's interval, when the next turn is and whose the last one was (exit code 4: unknown)",
      {"leasehold limit show orders-api", "leasehold limit show orders-api --json | jq .next_at"});
  auto name = std::make_shared<std::string>();
  add_limit_name(*command, *name);
  set_action(*command, context, [&context, name] { return show_limit(context, *name); });
}

// leasehold limit ls: every rate limit, one line each.
namespace {

void print_table(const std::vector<LimitInfo>& limits) {
  if (limits.empty()) return say_line("no rate limits");
  Table table({{"NAME", Column::may_be_cut},
               {"EVERY", Column::to_the_right, 1},
               {"BURST", Column::to_the_right},
               {"NEXT", Column::as_it_is, 2},
               {"TAKEN", Column::to_the_right},
               {"LAST BY", Column::may_be_cut, 1}});
  for (const auto& limit : limits) {
    const bool ahead = limit.next_at > limit.store_now;
    table.add({printable(limit.name), format_duration(limit.every), std::to_string(limit.burst),
               ahead ? "in " + format_duration(limit.next_at - limit.store_now) : "at once",
               std::to_string(limit.taken), limit.holder.empty() ? "-" : printable(limit.holder)});
  }
  table.print();
}

int list(const Context& context) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto limits = store->limits().list();
  if (!limits) return report(context, limits.error());
  if (context.json) {
    print_line(wire::to_json(*limits));
  } else {
    print_table(*limits);
  }
  return exit_code::ok;
}

}  // namespace

void add_limit_ls(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "ls", "List rate limits, when the next turn is, and who had the last",
                              {"leasehold limit ls", "leasehold limit ls --json | jq -r '.[].name'"});
  set_action(*command, context, [&context] { return list(context); });
}

// leasehold limit take: wait for one's turn at a rate that everybody keeps together.
namespace {

struct LimitTakeOptions {
  std::string name;
  std::string holder;
  TakeOptions take;
  int refused_code = exit_code::held;
};

/// "waiting for a turn of orders-api: one every 750ms, the last one for ana"
std::string waits_for_turn(const Limits& limits, const std::string& name) {
  const auto limit = limits.show(name);
  if (!limit) return "";
  return fmt::format("waiting for a turn of {}: one every {}, the last one for {}", printable(name),
                     format_duration(limit->every), printable(limit->holder));
}

int take(const Context& context, LimitTakeOptions& options) {
  auto patience = options.take.wait.value_or(as_long_as_needed);
  auto store = open_within(patience, context);
  if (!store) return report(context, store.error());
  if (options.take.wait) options.take.wait = patience;
  const Call call{.holder = calling_process(options.holder)};
  const auto limits = store->limits();
  const auto slot = say_while_waiting(
      wants_wait_line(context, options.take.wait.value_or(Duration::max())),
      [&] { return waits_for_turn(limits, options.name); },
      [&] { return limits.take(options.name, options.take, call); });
  if (!slot) return report(context, slot.error(), options.refused_code);
  if (context.json) {
    print_line(wire::to_json(*slot));
  } else {
    print("took {}  at {}  waited {}", printable(options.name), local_time(slot->at, wall_clock()),
          format_duration(std::chrono::floor<std::chrono::milliseconds>(slot->waited)));
  }
  return exit_code::ok;
}

}  // namespace

void add_limit_take(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "take",
      "Wait for the caller's turn; turns are given in the order of asking (exit code 75: it would take too long)",
      {"leasehold limit take orders-api --every 750ms && curl https://example.org/orders",
       "leasehold limit take orders-api --wait 0 || echo 'not now'",
       "leasehold limit take mail --every 1s --burst 10    # up to 10 at once after a pause"});
  auto options = std::make_shared<LimitTakeOptions>();
  auto& take_options = options->take;
  add_limit_name(*command, options->name);
  add_duration(*command, "--every", take_options.every,
               "Between two turns, everybody's from now on (default: as it was set)");
  add_optional_number(*command, "--burst", take_options.burst, 1, bounds::max_burst,
                      "So many turns at once after a time without any (default: as it was set, at first 1)");
  add_duration(*command, "--wait", take_options.wait,
               "The longest to wait; 0: now or not at all (default: as long as it takes)");
  add_holder(*command, options->holder);
  add_number(*command, "-E,--conflict-exit-code", options->refused_code, 0, 255,
             "Exit with N instead of 75 when it would take longer than --wait");
  set_action(*command, context, [&context, options] { return take(context, *options); });
}

// leasehold limit set: the rate that everybody keeps.
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
  add_number(*command, "--burst", options->burst, 1, bounds::max_burst,
             "So many turns at once after a time without any (default 1)");
  set_action(*command, context, [&context, options] { return set(context, *options); });
}

// leasehold limit rm: forget a rate limit.
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
