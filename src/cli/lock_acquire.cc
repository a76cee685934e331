// leasehold lock acquire: take a lock and keep it until its ttl has passed; no process stays behind.
#include <memory>

#include "cli/caller.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct Options {
  std::string name;
  std::string holder;
  AcquireOptions acquire;
  int held_code = exit_code::held;
  bool quiet = false;
};

void print_grant(const Context& context, const Options& options, const Grant& grant) {
  if (context.json) return print_line(wire::to_json(grant));
  if (options.quiet) return print("{}", grant.token.value);
  print("granted {}  token {}  until {} ({}){}", printable(grant.key), grant.token.value,
        local_time(grant.expires_at, grant.acquired_at), format_duration(grant.ttl),
        grant.replayed ? "  again: this request id was granted before" : "");
}

int acquire(const Context& context, Options& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  options.acquire.holder = calling_process(options.holder);
  auto grant = store->locks().acquire(options.name, options.acquire);
  if (!grant) return report(context, grant.error(), options.held_code);
  print_grant(context, options, *grant);
  return exit_code::ok;
}

}  // namespace

void add_lock_acquire(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "acquire", "Take a lock until its ttl has passed or it is released",
                  {"leasehold lock acquire deploy --ttl 5m", "leasehold lock acquire deploy --wait 1m --holder ci-42",
                   "token=$(leasehold lock acquire deploy -q) && ./deploy --fence \"$token\"",
                   "leasehold lock acquire nightly -E 0     # somebody else is on it: fine"});
  auto options = std::make_shared<Options>();
  add_lock_name(*command, options->name);
  add_duration(*command, "--ttl", options->acquire.ttl, "How long the lease lasts without a heartbeat (default 30s)");
  add_duration(*command, "--wait", options->acquire.wait, "How long to stand in line while it is held (default: not)");
  command->add_option("--holder", options->holder, "Name shown to others (default: user@host:pid)")->type_name("NAME");
  command
      ->add_option("--request-id", options->acquire.request_id,
                   "Makes repeating harmless: the same id gives the first answer again")
      ->type_name("ID");
  add_conflict_exit_code(*command, options->held_code);
  command->add_flag("-q,--quiet", options->quiet, "Print nothing but the token");
  set_action(*command, context, [&context, options] { return acquire(context, *options); });
}

}  // namespace leasehold::cli
