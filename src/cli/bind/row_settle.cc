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

using SettleRow = std::function<Result<RowSettled>(const Rows&, const RowVerdictOptions&)>;

int settle_row(const Context& context, const RowVerdictOptions& verdict, const SettleRow& ask) {
  const auto rows = open_rows(context, verdict.row.table);
  if (!rows) return report(context, rows.error());
  return print_settled(context, ask(*rows, verdict));
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
                               "leasehold row " + name + " --set row_count=41    # under `row work`"});
  auto verdict = std::make_shared<RowVerdictOptions>();
  add_row_verdict_options(*command, context, *verdict);
  set_action(*command, context, [&context, verdict, ask] { return settle_row(context, *verdict, ask); });
}

}  // namespace

void add_row_complete(CLI::App& parent, Context& context) {
  add_row_verdict(parent, context, "complete", "Finish a row, as the table's file says",
                  [](const Rows& rows, const RowVerdictOptions& verdict) {
                    return rows.complete(verdict.row.key, verdict.row.token, verdict.values);
                  });
}

void add_row_release(CLI::App& parent, Context& context) {
  add_row_verdict(parent, context, "release", "Give a row back without a verdict",
                  [](const Rows& rows, const RowVerdictOptions& verdict) {
                    return rows.release(verdict.row.key, verdict.row.token, verdict.values);
                  });
}

void add_row_fail(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "fail", "Fail a row, as the table's file says",
                              {R"(leasehold row fail sync_jobs 7 --token "$token" --error 'the source is down')"});
  auto row = std::make_shared<RowVerdictOptions>();
  auto error = std::make_shared<std::string>();
  add_row_verdict_options(*command, context, *row);
  command->add_option("--error", *error, "What went wrong")->type_name("TEXT");
  set_action(*command, context, [&context, row, error] {
    return settle_row(context, *row, [error](const Rows& rows, const RowVerdictOptions& verdict) {
      return rows.fail(verdict.row.key, verdict.row.token, *error, verdict.values);
    });
  });
}

}  // namespace leasehold::cli
