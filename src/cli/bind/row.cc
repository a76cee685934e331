// leasehold row claim, show, ls, recover: rows of adopted tables.
#include <fmt/format.h>
#include <memory>

#include "base/time_text.h"
#include "cli/bind/row_options.h"
#include "cli/command.h"
#include "cli/print/list.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/table.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

struct RowClaimCommand {
  std::string table;
  RowKey key;
  std::string holder;
  RowClaimOptions claim;
  int refused_code = exit_code::held;
  bool quiet = false;
};

void print_row_grant(const RowGrant& grant, bool quiet) {
  if (quiet) {
    print("{} {}", shown_row_key(grant.key), grant.token.value);
    return;
  }
  print("claimed {}  token {}  until {}", shown_row_key(grant.key), grant.token.value,
        with_distance(grant.expires_at, wall_clock()));
  print("  row  {}", grant.row);
}

int claim_rows(const Context& context, const RowClaimCommand& options) {
  const auto rows = open_rows(context, options.table);
  if (!rows) return report(context, rows.error());
  const Call call{.holder = calling_process(options.holder)};
  Result<std::vector<RowGrant>> grants = std::vector<RowGrant>{};
  if (options.key.empty()) {
    grants = rows->claim(options.claim, call);
  } else {
    auto one = rows->claim_key(options.key, options.claim, call);
    grants = one ? Result<std::vector<RowGrant>>(std::vector<RowGrant>{*one}) : one.error();
  }
  if (!grants) return report(context, grants.error(), options.refused_code);
  if (context.json) {
    print_line(model::to_json(*grants));
    return exit_code::ok;
  }
  for (const auto& grant : *grants) print_row_grant(grant, options.quiet);
  return exit_code::ok;
}

struct RowShowOptions {
  std::string table;
  RowKey key;
};

int show_row(const Context& context, const RowShowOptions& options) {
  const auto rows = open_rows(context, options.table);
  if (!rows) return report(context, rows.error());
  const auto info = rows->show(options.key);
  if (!info) return report(context, info.error());
  if (context.json) {
    print_line(model::to_json(*info));
    return exit_code::ok;
  }
  print_field("key", shown_row_key(info->key));
  print_field("state", printable(info->state));
  if (info->holder) print_field("holder", printable(info->holder->name));
  if (info->expires_at) print_field("until", with_distance(*info->expires_at, wall_clock()));
  if (info->token) print_field("token", std::to_string(info->token->value));
  print_block("row", info->row);
  return exit_code::ok;
}

struct RowListOptions {
  std::string table;
  RowFilter filter;
  bool watch = false;
};

std::vector<std::string> table_of(const std::vector<RowInfo>& rows) {
  Table table(
      {"KEY", {"STATE", Column::as_it_is, 2}, {"HOLDER", Column::may_be_cut, 1}, {"UNTIL", Column::as_it_is, 1}});
  for (const auto& row : rows) {
    table.add({shown_row_key(row.key), printable(row.state), shown_name(row.holder),
               row.expires_at ? with_distance(*row.expires_at, wall_clock()) : "-"});
  }
  return table.lines();
}

std::string gist_of(const RowInfo& row) {
  return printable(row.state) + (row.holder ? " by " + printable(row.holder->name) : std::string());
}

Result<ListPicture> look_at_rows(const Rows& rows, const RowFilter& filter) {
  const auto page = rows.list(filter);
  if (!page) return page.error();
  return picture_of(
      *page, table_of(page->items), [](const auto& row) { return shown_row_key(row.key); },
      [](const auto& row) { return gist_of(row); });
}

int list_rows(const Context& context, const RowListOptions& options) {
  const auto rows = open_rows(context, options.table);
  if (!rows) return report(context, rows.error());
  return show_list(context, {.what = options.filter.state.empty() ? "rows" : "rows in this state",
                             .watch = options.watch,
                             .look = [&] { return look_at_rows(*rows, options.filter); }});
}

struct RecoverOptions {
  std::string table;
  RowRecoverOptions recover;
};

int recover_rows(const Context& context, const RecoverOptions& options) {
  const auto rows = open_rows(context, options.table);
  if (!rows) return report(context, rows.error());
  const auto recovered = rows->recover(options.recover);
  if (!recovered) return report(context, recovered.error());
  if (context.json) {
    print_line(model::to_json(*recovered));
    return exit_code::ok;
  }
  for (const auto& row : *recovered) {
    print("{} {}  from {}, expired {}", options.recover.dry_run ? "would recover" : "recovered", shown_row_key(row.key),
          printable(row.previous_holder.name), with_distance(row.expired_at, wall_clock()));
  }
  if (recovered->empty()) print_line("nothing to recover: no lease has expired");
  return exit_code::ok;
}

}  // namespace

void add_row_claim(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "claim", "Claim the next row of an adopted table, or one by its key",
                              {"leasehold row claim sync_jobs --ttl 5m", "leasehold row claim sync_checkpoints m1 a3f9",
                               "leasehold row claim sync_jobs --wait 1m --json | jq '.items[0] | {key, token, row}'"});
  auto options = std::make_shared<RowClaimCommand>();
  add_adopted_table(*command, options->table);
  auto* key =
      add_row_key(*command, options->key, "Claim this row: the values of the key columns (default: the next rows)");
  add_number(*command, "-n,--max", options->claim.max, 1, 1000, "Up to N rows, each under its own lease (default 1)")
      ->excludes(key);
  add_duration(*command, "--ttl", options->claim.ttl,
               "How long the lease lasts without a heartbeat (default: the table's)");
  add_duration(*command, "--wait", options->claim.wait, "Wait up to this long for a row (default: no wait)");
  add_holder(*command, options->holder);
  add_conflict_exit_code(*command, options->refused_code);
  command->add_flag("-q,--quiet", options->quiet, "Print only key and token of each row");
  set_action(*command, context, [&context, options] { return claim_rows(context, *options); });
}

void add_row_show(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "show", "Show the state and the holder of a row",
                              {"leasehold row show sync_jobs 7"});
  auto options = std::make_shared<RowShowOptions>();
  add_adopted_table(*command, options->table);
  add_row_key(*command, options->key, "The values of the key columns, in their order")->required();
  set_action(*command, context, [&context, options] { return show_row(context, *options); });
}

void add_row_ls(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "ls", "List the rows of an adopted table with their states",
                              {"leasehold row ls sync_jobs --state expired", "leasehold row ls sync_jobs --watch"});
  auto options = std::make_shared<RowListOptions>();
  add_adopted_table(*command, options->table);
  command
      ->add_option("--state", options->filter.state,
                   "Only rows in this state: available, waiting, running, expired, or a final state of the table")
      ->check(not_empty)
      ->type_name("STATE");
  add_paging(*command, options->filter.max, options->filter.page);
  add_watch(*command, options->watch);
  set_action(*command, context, [&context, options] { return list_rows(context, *options); });
}

void add_row_recover(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "recover", "Free the rows whose leases have expired; never needed, since a claim does the same",
      {"leasehold row recover sync_jobs", "leasehold row recover sync_jobs --older-than 5m --dry-run"});
  auto options = std::make_shared<RecoverOptions>();
  add_adopted_table(*command, options->table);
  add_duration(*command, "--older-than", options->recover.older_than,
               "Only leases that expired at least this long ago (default: all that expired)");
  command->add_flag("--dry-run", options->recover.dry_run, "Only list them; change nothing");
  set_action(*command, context, [&context, options] { return recover_rows(context, *options); });
}

}  // namespace leasehold::cli
