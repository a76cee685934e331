// leasehold rate show, ls, take, set, rm.
#include <CLI/CLI.hpp>

#include <memory>
#include <string>

#include "act/confirmations.h"
#include "base/time_text.h"
#include "cli/bind/chunk_options.h"
#include "cli/command.h"
#include "cli/context.h"
#include "cli/print/list.h"
#include "cli/print/live.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/table.h"
#include "cli/store_trouble.h"
#include "leasehold/rate.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

CLI::Option* add_rate_name(CLI::App& command, std::string& name) { return add_name(command, "NAME", name, "The rate"); }

void print_fields(const RateInfo& rate) {
  print_field("rate", printable(rate.name));
  print_field("every", format_duration(rate.every));
  print_field("burst", std::to_string(rate.burst));
  print_field("next", rate.next_at > rate.store_now ? with_distance(rate.next_at, rate.store_now) : "at once");
  print_field("taken", std::to_string(rate.taken));
  if (!rate.taken_at || !rate.holder) return;
  print_field("last", fmt::format("{} by {} (on {})", with_distance(*rate.taken_at, rate.store_now),
                                  printable(rate.holder->name), printable(rate.holder->host)));
}

/// Prints the rate, or the error; returns the exit code.
int print_rate(const Context& context, const Result<RateInfo>& rate) {
  if (!rate) return report(context, rate.error());
  if (context.json) {
    print_line(model::to_json(*rate));
  } else {
    print_fields(*rate);
  }
  return exit_code::ok;
}

}  // namespace

// leasehold rate show: one rate and its last turn.
namespace {

int show_rate(const Context& context, const std::string& name) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  return print_rate(context, store->rates().show(name));
}

}  // namespace

void add_rate_show(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "show",
                  "Show a rate's interval, its next turn and the holder of the last one (exit code 4: unknown)",
                  {"leasehold rate show orders-api", "leasehold rate show orders-api --json | jq .next_at"});
  auto name = std::make_shared<std::string>();
  add_rate_name(*command, *name);
  set_action(*command, context, [&context, name] { return show_rate(context, *name); });
}

// leasehold rate ls: every rate, one line each.
namespace {

std::vector<std::string> table_of(const std::vector<RateInfo>& rates) {
  Table table({{"NAME", Column::may_be_cut},
               {"EVERY", Column::to_the_right, 1},
               {"BURST", Column::to_the_right},
               {"NEXT", Column::as_it_is, 2},
               {"TAKEN", Column::to_the_right},
               {"LAST BY", Column::may_be_cut, 1}});
  for (const auto& rate : rates) {
    const bool ahead = rate.next_at > rate.store_now;
    table.add({printable(rate.name), format_duration(rate.every), std::to_string(rate.burst),
               ahead ? "in " + format_duration(rate.next_at - rate.store_now) : "at once", std::to_string(rate.taken),
               shown_name(rate.holder)});
  }
  return table.lines();
}

std::string gist_of(const RateInfo& rate) {
  const auto last = rate.holder ? ", last by " + printable(rate.holder->name) : std::string();
  return fmt::format("{} apart, {} taken{}", format_duration(rate.every), rate.taken, last);
}

Result<ListPicture> look_at_rates(const Store& store) {
  auto rates = store.rates().list();
  if (!rates) return std::move(rates).error();
  const Page<RateInfo> page{.items = std::move(*rates)};
  return picture_of(
      page, table_of(page.items), [](const auto& rate) { return rate.name; },
      [](const auto& each) { return gist_of(each); });
}

int list(const Context& context, bool watch) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  return show_list(context, *store, {.what = "rates", .watch = watch, .look = [&] { return look_at_rates(*store); }});
}

}  // namespace

void add_rate_ls(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "ls", "List rates, with their next turn and last holder",
                              {"leasehold rate ls", "leasehold rate ls --json | jq -r '.items[].name'"});
  auto watch = std::make_shared<bool>(false);
  add_watch(*command, *watch);
  set_action(*command, context, [&context, watch] { return list(context, *watch); });
}

// leasehold rate take: wait for a turn at a shared rate.
namespace {

struct RateTakeCommand {
  std::string name;
  std::string holder;
  RateTakeOptions take;
  int refused_code = exit_code::held;
};

/// "waiting for a turn of orders-api: one every 750ms, the last one for ana"
std::string waits_for_turn(const Rates& rates, const std::string& name) {
  const auto rate = rates.show(name);
  if (!rate) return "";
  return fmt::format("waiting for a turn of {}: one every {}, the last one for {}", printable(name),
                     format_duration(rate->every), shown_name(rate->holder));
}

int take(const Context& context, RateTakeCommand& options) {
  auto patience = options.take.wait.value_or(as_long_as_needed);
  auto store = open_within(patience, context);
  if (!store) return report(context, store.error());
  if (options.take.wait) options.take.wait = patience;
  const Call call{.holder = calling_process(options.holder)};
  const auto rates = store->rates();
  const auto turn = say_while_waiting(
      wants_wait_line(context, options.take.wait.value_or(Duration::max())),
      [&] { return waits_for_turn(rates, options.name); },
      [&] { return rates.take(options.name, options.take, call); });
  if (!turn) return report(context, turn.error(), options.refused_code);
  if (context.json) {
    print_line(model::to_json(*turn));
  } else {
    print("took {}  at {}  waited {}", printable(options.name), local_time(turn->at, wall_clock()),
          format_duration(std::chrono::floor<std::chrono::milliseconds>(turn->waited)));
  }
  return exit_code::ok;
}

}  // namespace

void add_rate_take(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "take",
                  "Wait for a turn; turns are given in order of arrival (exit code 75: it would take too long)",
                  {"leasehold rate take orders-api --every 750ms && curl https://example.org/orders",
                   "leasehold rate take orders-api --wait 0 || echo 'not now'",
                   "leasehold rate take mail --every 1s --burst 10    # up to 10 at once after a pause"});
  auto options = std::make_shared<RateTakeCommand>();
  auto& take_options = options->take;
  add_rate_name(*command, options->name);
  add_duration(*command, "--every", take_options.every, "Interval between turns, for all callers (default: unchanged)");
  add_optional_number(*command, "--burst", take_options.burst, 1, bounds::max_burst,
                      "Up to N turns at once after an idle time (default: unchanged, initially 1)");
  add_duration(*command, "--wait", take_options.wait, "Wait up to this long; 0: do not wait (default: no limit)");
  add_holder(*command, options->holder);
  add_number(*command, "-E,--conflict-exit-code", options->refused_code, 0, 255,
             "Exit with N instead of 75 when it would take longer than --wait");
  set_action(*command, context, [&context, options] { return take(context, *options); });
}

// leasehold rate set: set a shared rate.
namespace {

struct RateSetOptions {
  std::string name;
  Duration every{};
  int burst = 1;
};

int set(const Context& context, const RateSetOptions& options) {
  auto store = context.open_or_make_store();
  if (!store) return report(context, store.error());
  const auto rates = store->rates();
  if (const auto done = rates.set(options.name, options.every, options.burst); !done) {
    return report(context, done.error());
  }
  return print_rate(context, rates.show(options.name));
}

}  // namespace

void add_rate_set(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "set", "Set the interval between turns, for all callers",
                              {"leasehold rate set orders-api --every 750ms",
                               "leasehold rate set mail --every 6s --burst 10    # ten a minute, also all at once"});
  auto options = std::make_shared<RateSetOptions>();
  add_rate_name(*command, options->name);
  add_duration(*command, "--every", options->every, "Interval between turns")->required();
  add_number(*command, "--burst", options->burst, 1, bounds::max_burst,
             "Up to N turns at once after an idle time (default 1)");
  set_action(*command, context, [&context, options] { return set(context, *options); });
}

// leasehold rate rm: remove a rate.
namespace {

int remove(const Context& context, const std::string& name) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  if (const auto removed = store->rates().remove(name); !removed)
    return report(context, without_advice(removed.error()));
  if (context.json) {
    print_line(model::to_json(act::Removed{name}));
  } else {
    print("removed {}", printable(name));
  }
  return exit_code::ok;
}

}  // namespace

void add_rate_rm(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "rm", "Remove a rate; turns already given stay given",
                              {"leasehold rate rm orders-api"});
  auto name = std::make_shared<std::string>();
  add_rate_name(*command, *name);
  set_action(*command, context, [&context, name] { return remove(context, *name); });
}

}  // namespace leasehold::cli
