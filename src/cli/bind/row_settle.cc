// leasehold row heartbeat, complete, fail, release: acts on a held row.
#include <fmt/format.h>
#include <functional>
#include <memory>

#include "base/time_text.h"
#include "cli/bind/row_options.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

struct RowHeartbeatOptions {
  HeldRowOptions row;
  std::optional<Duration> ttl;
};

int extend_row(const Context& context, const RowHeartbeatOptions& options) {
  const auto rows = open_rows(context, options.row.table);
  if (!rows) return report(context, rows.error());
  const auto extended = rows->heartbeat({{options.row.key, options.row.token}}, options.ttl).front();
  if (!extended) return report(context, extended.error());
  if (context.json) {
    print_line(model::to_json(*extended));
  } else {
    print("extended {}  until {}", shown_row_key(extended->key), with_distance(extended->expires_at, wall_clock()));
  }
  return exit_code::ok;
}

int print_settled(const Context& context, const Result<RowSettled>& settled) {
  if (!settled) return report(context, settled.error());
  if (context.json) {
    print_line(model::to_json(*settled));
  } else {
    print("{} {}", settled->outcome, shown_row_key(settled->key));
  }
  return exit_code::ok;
}

using SettleRow = std::function<Result<RowSettled>(const Rows&, const HeldRowOptions&)>;

int settle_row(const Context& context, const HeldRowOptions& row, const SettleRow& ask) {
  const auto rows = open_rows(context, row.table);
  if (!rows) return report(context, rows.error());
  return print_settled(context, ask(*rows, row));
}

}  // namespace

void add_row_heartbeat(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "heartbeat", "Extend the lease of a row; an expired lease is lost (exit code 76)",
      {R"(leasehold row heartbeat sync_jobs 7 --token "$token")", "leasehold row heartbeat    # under `row work`"});
  auto options = std::make_shared<RowHeartbeatOptions>();
  add_held_row(*command, context, options->row);
  add_duration(*command, "--ttl", options->ttl, "New ttl of the lease (default: the table's)");
  set_action(*command, context, [&context, options] { return extend_row(context, *options); });
}

namespace {

void add_row_verdict(CLI::App& parent, Context& context, const std::string& name, const std::string& description,
                     const SettleRow& ask) {
  auto* command = add_command(parent, context, name, description,
                              {"leasehold row " + name + R"( sync_jobs 7 --token "$token")",
                               "leasehold row " + name + "    # under `row work`"});
  auto row = std::make_shared<HeldRowOptions>();
  add_held_row(*command, context, *row);
  set_action(*command, context, [&context, row, ask] { return settle_row(context, *row, ask); });
}

}  // namespace

void add_row_complete(CLI::App& parent, Context& context) {
  add_row_verdict(parent, context, "complete", "Finish a row, as the table's file says",
                  [](const Rows& rows, const HeldRowOptions& row) { return rows.complete(row.key, row.token); });
}

void add_row_release(CLI::App& parent, Context& context) {
  add_row_verdict(parent, context, "release", "Give a row back without a verdict",
                  [](const Rows& rows, const HeldRowOptions& row) { return rows.release(row.key, row.token); });
}

void add_row_fail(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "fail", "Fail a row, as the table's file says",
                              {R"(leasehold row fail sync_jobs 7 --token "$token" --error 'the source is down')"});
  auto row = std::make_shared<HeldRowOptions>();
  auto error = std::make_shared<std::string>();
  add_held_row(*command, context, *row);
  command->add_option("--error", *error, "What went wrong")->type_name("TEXT");
  set_action(*command, context, [&context, row, error] {
    return settle_row(context, *row, [error](const Rows& rows, const HeldRowOptions& held) {
      return rows.fail(held.key, held.token, *error);
    });
  });
}

}  // namespace leasehold::cli
