// leasehold lock show: who has it, since when, is it alive, when does it free.
#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

void print_process(const Holder& holder) {
  if (!holder.host.empty()) print_field("host", printable(holder.host));
  if (holder.pid != 0) print_field("pid", std::to_string(holder.pid));
  if (!holder.tty.empty()) print_field("tty", printable(holder.tty));
}

void print_running(const LeaseInfo& lease) {
  print_field("holder", printable(lease.holder.name));
  print_process(lease.holder);
  print_field("since", with_distance(lease.acquired_at, lease.store_now));
  print_field("heartbeat", with_distance(lease.heartbeat_at, lease.store_now));
  print_field(lease.state == LeaseState::expired ? "expired" : "frees",
              with_distance(lease.expires_at, lease.store_now));
  print_field("ttl", format_duration(lease.ttl));
}

void print_free(const LeaseInfo& lease) {
  if (!lease.holder.name.empty()) print_field("last holder", printable(lease.holder.name));
  if (lease.ended_at) {
    print_field(lease.end_reason.empty() ? "ended" : lease.end_reason, with_distance(*lease.ended_at, lease.store_now));
  }
  if (!lease.end_detail.empty()) print_field("reason", printable(lease.end_detail));
}

int show(const Context& context, const std::string& name) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  auto lease = store->locks().show(name);
  if (!lease) return report(context, lease.error());
  if (context.json) {
    print_line(wire::to_json(*lease));
    return exit_code::ok;
  }
  print_field("lock", printable(lease->key));
  print_field("state", coloured(lease->state));
  lease->state == LeaseState::free ? print_free(*lease) : print_running(*lease);
  print_field("token", std::to_string(lease->token.value));
  if (lease->waiters > 0) print_field("waiters", std::to_string(lease->waiters));
  return exit_code::ok;
}

}  // namespace

void add_lock_show(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "show",
                              "Tell who has a lock, since when, and when it frees (exit code 4: never heard of it)",
                              {"leasehold lock show deploy", "leasehold lock show deploy --json | jq .holder.host"});
  auto name = std::make_shared<std::string>();
  add_lock_name(*command, *name);
  set_action(*command, context, [&context, name] { return show(context, *name); });
}

}  // namespace leasehold::cli
