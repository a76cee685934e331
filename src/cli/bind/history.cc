// leasehold history: past and present grants, who took them over, and after how long.
#include <memory>
#include <string>

#include "base/time_text.h"
#include "cli/command.h"
#include "cli/print/list.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/table.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

struct HistoryOptions {
  HistoryFilter filter{.max = 50};
  std::string since{};
};

/// "killed-worker (process gone, 41ms)"
std::string takeover_of(const GrantInfo& grant) {
  if (!grant.taken_from) return "-";
  return fmt::format("{} ({}, {})", printable(grant.taken_from->name), grant.cause,
                     format_duration(grant.gap.value_or(Duration(0))));
}

std::string end_of(const GrantInfo& grant, Timestamp now) {
  if (!grant.ended_at) return grant.state == LeaseState::free ? "?" : to_string(grant.state);
  auto text = fmt::format("{}  {}", local_time(*grant.ended_at, now), grant.end_reason);
  if (!grant.end_detail.empty()) text += fmt::format(" ({})", printable(grant.end_detail));
  return text;
}

void print_grants(const Page<GrantInfo>& grants) {
  const auto now = wall_clock();
  Table table({{"KIND"}, {"KEY"}, {"HOLDER"}, {"SINCE"}, {"ENDED"}, {"TAKEN FROM"}});
  for (const auto& grant : grants) {
    table.add({grant.kind, printable(grant.key), printable(grant.holder.name), local_time(grant.since, now),
               end_of(grant, now), takeover_of(grant)});
  }
  table.print();
}

/// "2h" is two hours ago, "10:30" the latest half past ten.
Result<Timestamp> moment_before(const std::string& text, Timestamp now) {
  if (auto ago = parse_duration(text)) return now - *ago;
  auto moment = parse_moment(text, now);
  if (moment && *moment > now) return *moment - std::chrono::days(1);
  return moment;
}

int show_history(const Context& context, const HistoryOptions& options) {
  auto filter = options.filter;
  if (!options.since.empty()) {
    auto since = moment_before(options.since, wall_clock());
    if (!since) return report(context, since.error());
    filter.since = *since;
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  auto grants = store->history(filter);
  if (!grants) return report(context, grants.error());
  if (context.json) {
    print_line(model::to_json(*grants));
    return exit_code::ok;
  }
  if (grants->empty()) say_line("no grants");
  if (!grants->empty()) print_grants(*grants);
  if (grants->next) say("there are older grants: continue with --page {}", *grants->next);
  return exit_code::ok;
}

}  // namespace

void add_history(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "history", "Show past and present grants: who had what, who took it over, after how long",
      {"leasehold history deploy", "leasehold history --kind job --max 20",
       "leasehold history --json | jq '.items[] | select(.taken_from) | {key, cause, gap_seconds}'"});
  auto options = std::make_shared<HistoryOptions>();
  command->add_option("KEY", options->filter.key, "Only grants of this key: a name, an id, SET/KEY of a chunk")
      ->check(not_empty);
  add_choice(*command, "--kind", options->filter.kind, {"lock", "job", "chunk", "session", "item", "schedule"},
             "Only grants of this kind");
  command
      ->add_option("--since", options->since, "Leave out grants that ended before: 2h (ago), or a moment such as 10:30")
      ->check(not_empty)
      ->type_name("WHEN");
  add_paging(*command, options->filter.max, options->filter.page);
  set_action(*command, context, [&context, options] { return show_history(context, *options); });
}

}  // namespace leasehold::cli
