// leasehold lock show: who has it, since when, is it alive, when does it free.
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/lock_text.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/table.h"
#include "core/duration.h"
#include "wire/locks.h"

namespace leasehold::cli {
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
               {"PERMITS", Column::to_the_right},
               "HEARTBEAT",
               "FREES",
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
    print_line(wire::to_json(*lock, *holders));
  } else {
    print_lock(*lock, *holders);
  }
  return exit_code::ok;
}

}  // namespace

void add_lock_show(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "show",
                              "Tell who has a lock, since when, and when it frees (exit code 4: never heard of it)",
                              {"leasehold lock show deploy", "leasehold lock show deploy --json | jq .holder.host",
                               "leasehold lock show gpu --json | jq -r '.held_by[].holder.name'"});
  auto name = std::make_shared<std::string>();
  add_lock_name(*command, *name);
  set_action(*command, context, [&context, name] { return show_lock(context, *name); });
}

}  // namespace leasehold::cli
