// leasehold lock run: a command that only runs while the lock is held, and not a moment longer.
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <stop_token>

#include "base/text.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/wrapped_command.h"
#include "core/duration.h"
#include "run/supervisor.h"

namespace leasehold::cli {
namespace {

using run::Ending;
using run::Supervisor;

struct Options {
  std::string name;
  std::string holder;
  AcquireOptions acquire;
  Duration grace = std::chrono::seconds(5);
  CLI::Option* grace_given = nullptr;
  int held_code = exit_code::held;
  std::string program;
  std::vector<std::string> command;
};

int report_failure(const Context& context, const Error& error, int held_code = exit_code::held) {
  const int code = report(context, error, held_code);
  return code == exit_code::failure ? own_failure : code;
}

/// A third of the ttl passes between heartbeats and another third is for a late one: that is what remains.
Duration fitting_grace(const Options& options) {
  const auto longest = options.acquire.ttl / 3;
  if (options.grace <= longest) return options.grace;
  if (options.grace_given->count() > 0) {
    say("leasehold: a grace of {} does not fit a ttl of {}: shortened to {}", format_duration(options.grace),
        format_duration(options.acquire.ttl), format_duration(longest));
  }
  return longest;
}

std::vector<std::string> environment_for(const Grant& grant, const std::string& url) {
  return {
      fmt::format("LEASEHOLD_KEY={}", grant.key),
      fmt::format("LEASEHOLD_TOKEN={}", grant.token.value),
      fmt::format("LEASEHOLD_EXPIRES_AT={}", to_string(grant.expires_at)),
      fmt::format("LEASEHOLD_DB={}", with_absolute_path(url)),
  };
}

int after_exit(const Context& context, HeldLease& held, int command_code) {
  const auto released = held.release();
  if (released) return command_code;
  const auto& error = released.error();
  if (error.code == Errc::lost) {
    say("leasehold: the lease was lost before the command ended: it may not have been alone");
    return report(context, error);
  }
  say("leasehold: the command ended, but the lock could not be released ({}): it frees itself at {}",
      printable(error.message), to_string(held.grant().expires_at));
  return command_code;
}

int after_loss(const Context& context, HeldLease& held, const std::string& name) {
  const auto why = held.lost();
  say("leasehold: the command was ended, because the lease on {} {}", leasehold::quoted(name),
      why ? "was lost" : "could not be extended in time");
  if (why) report(context, *why);
  return exit_code::lost;
}

int conclude(const Context& context, const Options& options, HeldLease& held, const Ending& ending) {
  switch (ending.kind) {
    case Ending::Kind::exited: return after_exit(context, held, ending.exit_code);
    case Ending::Kind::start_failed:
      say("leasehold: cannot run {}: {}", leasehold::quoted(options.command[0]), std::strerror(ending.error));
      after_exit(context, held, ending.exit_code);
      return ending.exit_code;
    case Ending::Kind::lease_lost: return after_loss(context, held, options.name);
    case Ending::Kind::guardian_died:
      say("leasehold: the guardian process ended unexpectedly; ended everything the command had started");
      after_exit(context, held, own_failure);
      return own_failure;
    case Ending::Kind::survived: break;
  }
  say("leasehold: something the command started could not be killed (another user's process, or one that hangs in the "
      "kernel): the lease is not released and runs out at {}",
      to_string(held.grant().expires_at));
  // Without destructors: they would release the lease.
  ::_exit(exit_code::lost);
}

int run_with(const Context& context, const Options& options, Supervisor& supervisor) {
  const auto url = context.store_url();
  if (!url) return report_failure(context, url.error());
  auto store = context.open_store();
  if (!store) return report_failure(context, store.error());
  auto held = store->locks().hold(options.name, options.acquire);
  if (!held) return report_failure(context, held.error(), options.held_code);

  held->on_extended([&supervisor](const Grant& grant) { supervisor.extend(grant.trusted_until); });
  const auto grant = held->grant();
  supervisor.start(environment_for(grant, *url), grant.trusted_until);
  const std::stop_callback on_lost(held->stop_token(), [&supervisor] { supervisor.stop(); });
  const auto ending = supervisor.wait();
  return conclude(context, options, *held, ending);
}

int run_locked(const Context& context, Options& options) {
  // First of all, while there is neither a thread nor a connection that a fork would copy.
  auto supervisor = Supervisor::fork_guardian(options.command, fitting_grace(options),
                                              [](const std::string& line) { say("leasehold: {}", line); });
  if (!supervisor) return report_failure(context, supervisor.error());
  options.acquire.holder = holder_guarded_by((*supervisor)->guardian(), options.holder);
  return run_with(context, options, **supervisor);
}

}  // namespace

void add_lock_run(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "run", "Run a command while holding a lock, and end it with the lease",
                              {"leasehold lock run deploy -- ./deploy.sh production",
                               "leasehold lock run deploy --wait 10m --ttl 1m -- make deploy",
                               "leasehold lock run nightly -E 0 -- ./report    # somebody else is on it: fine"});
  auto options = std::make_shared<Options>();
  add_lock_name(*command, options->name);
  add_duration(*command, "--ttl", options->acquire.ttl, "How long the lease lasts without a heartbeat (default 30s)");
  add_duration(*command, "--wait", options->acquire.wait,
               "How long to stand in line while it is held (default: do not wait)");
  options->grace_given = add_duration(*command, "--grace", options->grace,
                                      "Between SIGTERM and SIGKILL (default 5s; at most a third of the ttl)");
  command->add_option("--holder", options->holder, "Name shown to others (default: user@host:pid)")->type_name("NAME");
  add_conflict_exit_code(*command, options->held_code);
  // Only the program is an argument of ours; prefix_command leaves the words after it as they are.
  command->prefix_command();
  command->add_option("COMMAND", options->program, "After --: the program and its arguments; no shell is involved")
      ->required()
      ->type_name("");
  command->callback([&context, options, command] {
    options->command = words_after_mark(
        *command, context, {"NAME", options->name, "leasehold lock run NAME -- COMMAND..."}, options->program);
    context.action = [&context, options] { return run_locked(context, *options); };
  });
}

}  // namespace leasehold::cli
