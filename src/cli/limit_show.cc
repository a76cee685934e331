// leasehold limit show: one rate limit, and whose turn it was.
#include <memory>

#include "cli/command.h"
#include "cli/limit_options.h"
#include "cli/print.h"
#include "cli/report.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

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

int show_limit(const Context& context, const std::string& name) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  return print_limit(context, store->limits().show(name));
}

}  // namespace

CLI::Option* add_limit_name(CLI::App& command, std::string& name) {
  return command.add_option("NAME", name, "The rate limit: up to 512 bytes of UTF-8")->required()->type_name("");
}

int print_limit(const Context& context, const Result<LimitInfo>& limit) {
  if (!limit) return report(context, limit.error());
  if (context.json) {
    print_line(wire::to_json(*limit));
  } else {
    print_fields(*limit);
  }
  return exit_code::ok;
}

void add_limit_show(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "show",
      "Tell a rate limit's interval, when the next turn is and whose the last one was (exit code 4: unknown)",
      {"leasehold limit show orders-api", "leasehold limit show orders-api --json | jq .next_at"});
  auto name = std::make_shared<std::string>();
  add_limit_name(*command, *name);
  set_action(*command, context, [&context, name] { return show_limit(context, *name); });
}

}  // namespace leasehold::cli
