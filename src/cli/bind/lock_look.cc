// leasehold lock show, ls.
#include <fmt/format.h>
#include <algorithm>
#include <memory>

#include "act/answers.h"
#include "base/time_text.h"
#include "cli/command.h"
#include "cli/print/list.h"
#include "cli/print/lock_text.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/table.h"
#include "model/json.h"

namespace leasehold::cli {

// leasehold lock show: the holder, since when, whether it is alive, and when the lock becomes free.
namespace {

void print_process(const Holder& holder) {
  if (!holder.host.empty()) print_field("host", printable(holder.host));
  if (holder.pid != 0) print_field("pid", std::to_string(holder.pid));
  if (!holder.tty.empty()) print_field("tty", printable(holder.tty));
}

void print_held(const LockInfo& lock) {
  print_field("holder", printable(lock.holder.name));
  print_process(lock.holder);
  print_field("since", with_distance(lock.acquired_at, lock.store_now));
  print_field("heartbeat", with_distance(lock.heartbeat_at, lock.store_now));
  print_field(lock.state == LeaseState::expired ? "expired" : "frees", with_distance(lock.expires_at, lock.store_now));
  const auto delay = delay_after(lock, lock.free_at);
  if (!delay.empty()) print_field("", delay);
  print_field("ttl", format_duration(lock.ttl));
}

void print_free(const LockInfo& lock) {
  if (!lock.holder.name.empty()) print_field("last holder", printable(lock.holder.name));
  if (lock.ended_at) {
    print_field(lock.end_reason.empty() ? "ended" : lock.end_reason, with_distance(*lock.ended_at, lock.store_now));
  }
  if (!lock.end_detail.empty()) print_field("reason", printable(lock.end_detail));
}

/// "2 of 8 permits taken, by 2 holders", "shared by 3 holders".
std::string shares_text(const LockInfo& lock) {
  const auto holders = counted(lock.holders, "holder");
  if (!lock.capacity) return fmt::format("shared by {}", holders);
  return fmt::format("{} of {} permits taken, by {}", lock.permits, *lock.capacity, holders);
}

std::vector<std::string> row_of(const LockHolder& holder) {
  return {printable(holder.holder.name),
          printable(holder.holder.host),
          std::to_string(holder.permits.value_or(1)),
          format_age(holder.heartbeat_age()),
          frees_text(holder),
          std::to_string(holder.token.value)};
}

void print_holders(const std::vector<LockHolder>& holders) {
  Table table({{"HOLDER", Column::may_be_cut},
               {"HOST", Column::may_be_cut},
               {"PERMITS", Column::to_the_right, 1},
               "HEARTBEAT",
               {"FREES", Column::as_it_is, 1},
               {"TOKEN", Column::to_the_right}});
  for (const auto& holder : holders) table.add(row_of(holder));
  print_line("");
  table.print();
}

void print_lock(const LockInfo& lock, const std::vector<LockHolder>& holders) {
  const bool shared = has_shares(lock) && is_taken(lock);
  print_field("lock", printable(lock.key));
  print_field("state", coloured(lock.state));
  if (shared) {
    print_field("permits", shares_text(lock));
  } else if (lock.state == LeaseState::free) {
    print_free(lock);
  } else {
    print_held(lock);
  }
  if (lock.delayed && lock.free_at) print_field("delayed", delay_text(*lock.free_at, lock.store_now));
  print_field("token", std::to_string(lock.token.value));
  if (!lock.together.empty()) print_field("together", "with " + names_text(lock.together));
  if (lock.waiters > 0) print_field("waiters", std::to_string(lock.waiters));
  if (shared) print_holders(holders);
}

int show_lock(const Context& context, const std::string& name) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto lock = store->locks().show(name);
  if (!lock) return report(context, lock.error());
  const auto holders = store->locks().holders(name);
  if (!holders) return report(context, holders.error());
  if (context.json) {
    print_line(model::to_json(act::LockDetails{*lock, *holders}));
  } else {
    print_lock(*lock, *holders);
  }
  return exit_code::ok;
}

}  // namespace

void add_lock_show(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "show",
                              "Show the holder of a lock, since when, and when it frees (exit code 4: unknown)",
                              {"leasehold lock show deploy", "leasehold lock show deploy --json | jq .holder.host",
                               "leasehold lock show gpu --json | jq -r '.held_by[].holder.name'"});
  auto name = std::make_shared<std::string>();
  add_lock_name(*command, *name);
  set_action(*command, context, [&context, name] { return show_lock(context, *name); });
}

// leasehold lock ls: all locks, one line each.
namespace {

std::vector<std::string> row_of(const LockInfo& lock, bool with_permits) {
  std::vector<std::string> row{printable(lock.key), coloured(lock.state), holders_text(lock)};
  if (with_permits) row.push_back(permits_text(lock));
  row.push_back(is_taken(lock) ? format_age(lock.heartbeat_age()) : "-");
  row.push_back(frees_text(lock));
  row.push_back(std::to_string(lock.waiters));
  row.push_back(std::to_string(lock.token.value));
  return row;
}

/// Permits get a column of their own, if any lock is shared.
std::vector<Column> columns_of(bool with_permits) {
  std::vector<Column> columns{
      {"NAME", Column::may_be_cut}, {"STATE", Column::as_it_is, 2}, {"HOLDER", Column::may_be_cut, 2}};
  if (with_permits) columns.emplace_back("PERMITS", Column::to_the_right);
  columns.emplace_back("HEARTBEAT");
  columns.emplace_back("FREES", Column::as_it_is, 1);
  columns.emplace_back("WAITERS", Column::to_the_right, -1);
  columns.emplace_back("TOKEN", Column::to_the_right, -1);
  return columns;
}

std::vector<std::string> table_of(const std::vector<LockInfo>& locks) {
  const bool with_permits = std::any_of(locks.begin(), locks.end(), has_shares);
  Table table(columns_of(with_permits));
  for (const auto& lock : locks) table.add(row_of(lock, with_permits));
  return table.lines();
}

std::string gist_of(const LockInfo& lock) {
  if (lock.state == LeaseState::free) return "free";
  return fmt::format("{}, held by {}", to_string(lock.state), printable(lock.holder.name));
}

Result<ListPicture> look_at(const Store& store, const LockFilter& filter) {
  const auto locks = store.locks().list(filter);
  if (!locks) return locks.error();
  return picture_of(
      *locks, table_of(locks->items), [](const auto& lock) { return lock.key; },
      [](const auto& each) { return gist_of(each); });
}

struct LockLsOptions {
  LockFilter filter;
  bool watch = false;
};

int list(const Context& context, const LockLsOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  return show_list(context, *store,
                   {.what = "locks", .watch = options.watch, .look = [&] { return look_at(*store, options.filter); }});
}

}  // namespace

void add_lock_ls(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "ls", "List locks and their holders",
      {"leasehold lock ls", "leasehold lock ls deploy/ --held", "leasehold lock ls --json | jq -r '.items[].name'"});
  auto options = std::make_shared<LockLsOptions>();
  command->add_option("PREFIX", options->filter.prefix, "Only names that begin with it")->type_name("");
  command->add_flag("--held", options->filter.only_held, "Only held locks");
  add_paging(*command, options->filter.max, options->filter.page);
  add_watch(*command, options->watch);
  set_action(*command, context, [&context, options] { return list(context, *options); });
}

}  // namespace leasehold::cli
