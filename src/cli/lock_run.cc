// leasehold lock run: a command that only runs while its locks are held, and not a moment longer.
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <stop_token>

#include "base/text.h"
#include "cli/command.h"
#include "cli/lock_environment.h"
#include "cli/lock_options.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/wrapped_command.h"
#include "core/duration.h"
#include "run/supervisor.h"

namespace leasehold::cli {
namespace {

using run::Ending;
using run::Supervisor;

struct LockRunOptions {
  LockWords words;
  Duration grace = std::chrono::seconds(5);
  CLI::Option* grace_given = nullptr;
  std::string program;  ///< for the help page: see words_after_names()
  std::vector<std::string> command;
};

/// A third of the ttl passes between heartbeats and another third is for a late one: that is what remains.
Duration fitting_grace(const LockRunOptions& options) {
  const auto longest = options.words.acquire.ttl / 3;
  if (options.grace <= longest) return options.grace;
  if (options.grace_given->count() > 0) {
    say("leasehold: a grace of {} does not fit a ttl of {}: shortened to {}", format_duration(options.grace),
        format_duration(options.words.acquire.ttl), format_duration(longest));
  }
  return longest;
}

int after_exit(const Context& context, HeldLease& held, int command_code) {
  const auto released = held.release();
  if (released) return command_code;
  const auto& error = released.error();
  if (error.code == Errc::lost) {
    say("leasehold: the lease was lost before the command ended: it may not have been alone");
    return report(context, error);
  }
  say("leasehold: the command ended, but what it held could not be released ({}): it frees itself at {}",
      printable(error.message), to_string(held.grant().expires_at));
  return command_code;
}

int after_loss(const Context& context, HeldLease& held, const LockWords& words) {
  const auto why = held.lost();
  say("leasehold: the command was ended, because the lease on {} {}", words.joined_names(),
      why ? "was lost" : "could not be extended in time");
  if (why) report(context, *why);
  return exit_code::lost;
}

int conclude(const Context& context, const LockRunOptions& options, HeldLease& held, const Ending& ending) {
  switch (ending.kind) {
    case Ending::Kind::exited: return after_exit(context, held, ending.exit_code);
    case Ending::Kind::start_failed:
      say("leasehold: cannot run {}: {}", leasehold::quoted(options.command[0]), std::strerror(ending.error));
      after_exit(context, held, ending.exit_code);
      return ending.exit_code;
    case Ending::Kind::lease_lost: return after_loss(context, held, options.words);
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

int run_with(const Context& context, const LockRunOptions& options, Supervisor& supervisor) {
  const auto& words = options.words;
  const auto url = context.store_url();
  if (!url) return report_failure(context, url.error());
  auto store = context.open_store();
  if (!store) return report_failure(context, store.error());
  const auto locks = store->locks();
  if (const auto checked = check_reentry(locks, words.names, words.acquire.share); !checked) {
    return report_failure(context, checked.error());
  }
  auto held = locks.hold_all(words.names, words.acquire);
  if (!held) return report_failure(context, held.error(), words.held_code);

  held->on_extended([&supervisor](const Grant& grant) { supervisor.extend(grant.trusted_until); });
  const auto grant = held->grant();
  supervisor.start(lock_environment(grant, words.names, *url), grant.trusted_until);
  const std::stop_callback on_lost(held->stop_token(), [&supervisor] { supervisor.stop(); });
  const auto ending = supervisor.wait();
  return conclude(context, options, *held, ending);
}

int run_locked(const Context& context, LockRunOptions& options) {
  // First of all, while there is neither a thread nor a connection that a fork would copy.
  auto supervisor = Supervisor::fork_guardian(options.command, fitting_grace(options),
                                              [](const std::string& line) { say("leasehold: {}", line); });
  if (!supervisor) return report_failure(context, supervisor.error());
  options.words.acquire.holder = holder_guarded_by((*supervisor)->guardian(), options.words.holder);
  return run_with(context, options, **supervisor);
}

}  // namespace

void add_lock_run(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "run", "Run a command while holding locks, and end it with the lease",
                              {"leasehold lock run deploy -- ./deploy.sh production",
                               "leasehold lock run deploy --wait 10m --ttl 1m -- make deploy",
                               "leasehold lock run nightly -E 0 -- ./report    # somebody else is on it: fine",
                               "leasehold lock run gpu --permits 1/4 --wait 1h -- ./train    # four at a time",
                               "leasehold lock run account/7 account/9 -- ./transfer    # both or neither"});
  auto options = std::make_shared<LockRunOptions>();
  add_lock_words(*command, options->words);
  command
      ->add_option(
          "COMMAND", options->program,
          "After --: the program and its arguments; no shell is involved. In its environment it has "
          "LEASEHOLD_KEY, _TOKEN, _EXPIRES_AT, _DB and _INSTANCE; of several locks LEASEHOLD_KEYS, too, a name "
          "per line")
      ->type_name("");
  options->grace_given = add_duration(*command, "--grace", options->grace,
                                      "Between SIGTERM and SIGKILL (default 5s; at most a third of the ttl)");
  command->callback([&context, options] {
    auto& words = options->words;
    words.gather();
    options->command = words_after_names(context, words.names, {"NAME", "", "leasehold lock run NAME -- COMMAND..."});
    words.settle(context);
    context.action = [&context, options] { return run_locked(context, *options); };
  });
}

}  // namespace leasehold::cli
