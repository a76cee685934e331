// leasehold lock run: runs a command only while its locks are held.
#include <memory>
#include <stop_token>

#include "cli/bind/lock_options.h"
#include "cli/command.h"
#include "cli/print/live.h"
#include "cli/print/lock_text.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/run/command_runner.h"
#include "cli/run/command_stops.h"
#include "cli/run/wrapped_command.h"
#include "cli/run/wrapper_variables.h"
#include "cli/signals.h"
#include "cli/store_trouble.h"
#include "run/supervisor.h"

namespace leasehold::cli {
namespace {

using run::Ending;
using run::Supervisor;

struct LockRunOptions {
  LockWords words;
  Grace grace;
  std::optional<Duration> timeout;
  std::string program;  ///< for the help page: see words_after_names()
  std::vector<std::string> command;
};

HeldText text_of(const LockRunOptions& options) {
  return {.what = "the lease on " + options.words.joined_names(), .expiry = "frees itself"};
}

int after_exit(const Context& context, HeldLease& held, const HeldText& text, int command_code) {
  const auto released = held.release();
  if (released) return report_ended(context, "name", held.grant(), command_code);
  if (released.error().code == Errc::lost) {
    text.report_late_loss();
    return report(context, released.error());
  }
  text.report_unreported_end(released.error(), held.grant().expires_at);
  return report_ended(context, "name", held.grant(), command_code);
}

int after_loss(const Context& context, const HeldLease& held, const HeldText& text) {
  const auto why = held.lost();
  text.report_forced_end(why);
  if (why) report(context, *why);
  return exit_code::lost;
}

int conclude(const Context& context, const LockRunOptions& options, HeldLease& held, const Ending& ending) {
  const auto text = text_of(options);
  if (ending.timed_out && ending.kind != Ending::Kind::survived) {
    say("leasehold: the command {}", timed_out_text(*options.timeout));
    return after_exit(context, held, text, timed_out_code);
  }
  switch (ending.kind) {
    case Ending::Kind::exited: return after_exit(context, held, text, ending.exit_code);
    case Ending::Kind::start_failed:
      say("leasehold: {}", not_started_text(options.command[0], ending.error));
      after_exit(context, held, text, ending.exit_code);
      return ending.exit_code;
    case Ending::Kind::lease_lost: return after_loss(context, held, text);
    case Ending::Kind::guardian_died:
      say("leasehold: {}", guardian_died_text);
      after_exit(context, held, text, own_failure);
      return own_failure;
    case Ending::Kind::survived: break;
  }
  text.leave_to_expiry(held.grant().expires_at);
}

int run_with(const Context& context, const LockRunOptions& options, Supervisor& supervisor, Call call) {
  const auto& words = options.words;
  const auto url = context.store_url();
  if (!url) return report_failure(context, url.error());
  auto wanted = words.acquire;
  auto store = open_within(wanted.wait, context);
  if (!store) return report_failure(context, store.error());
  const auto locks = store->locks();
  if (const auto checked = check_reentry(locks, words.names, words.acquire.share); !checked) {
    return report_failure(context, checked.error());
  }
  LineSignals line(wanted.wait, call);
  auto held = say_while_waiting(
      wants_wait_line(context, wanted.wait), [&] { return waits_for_locks(locks, words.names); },
      [&] { return locks.hold_all(words.names, wanted, call); });
  if (line.first() != 0) return exit_code_after(line.first());
  if (!held) {
    const auto code = report_failure(context, held.error(), words.held_code);
    if (!context.json) say_delay_after(locks, held.error());
    return code;
  }

  held->on_extended([&supervisor](const Grant& grant) { supervisor.extend(grant.trusted_until); });
  const auto grant = held->grant();
  supervisor.set_timeout(options.timeout);
  supervisor.start(lock_environment(grant, words.names, *url), grant.trusted_until);
  // From now on signals go to the command, including one that has just arrived.
  if (const int late = line.give_back(); late != 0) ::raise(late);
  const std::stop_callback on_lost(held->stop_token(), [&supervisor] { supervisor.stop(); });
  const auto ending = supervisor.wait();
  return conclude(context, options, *held, ending);
}

int run_locked(const Context& context, LockRunOptions& options) {
  if (const auto checked = check_timeout(options.timeout); !checked) return report(context, checked.error());
  // First of all, before there is a thread or a connection that a fork would copy.
  auto supervisor = Supervisor::fork_guardian(options.command, options.grace.fitting(options.words.acquire.ttl),
                                              [](const std::string& line) { say("leasehold: {}", line); });
  if (!supervisor) return report_failure(context, supervisor.error());
  return run_with(context, options, **supervisor,
                  {.holder = holder_guarded_by((*supervisor)->guardian(), options.words.holder)});
}

}  // namespace

void add_lock_run(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "run", "Run a command while holding locks; kill it before the lease expires",
                  {"leasehold lock run deploy -- ./deploy.sh production",
                   "leasehold lock run deploy --wait 10m --ttl 1m -- make deploy",
                   "leasehold lock run nightly -E 0 -- ./report    # held by another: fine",
                   "leasehold lock run gpu --permits 1/4 --wait 1h -- ./train    # four at a time",
                   "leasehold lock run account/7 account/9 -- ./transfer    # both or neither"});
  auto options = std::make_shared<LockRunOptions>();
  add_lock_words(*command, options->words);
  command
      ->add_option(
          "COMMAND", options->program,
          "After --: the program and its arguments; no shell is involved. The environment has "
          "LEASEHOLD_LOCK, _LOCK_TOKEN, _LOCK_DB, _KEYS (all names, one per line), _INSTANCE, _TOKEN, _EXPIRES_AT and "
          "_DB")
      ->type_name("");
  add_grace(*command, options->grace, "at most a third of the ttl");
  add_timeout(*command, options->timeout, "then SIGTERM, after the grace SIGKILL, and exit code 124");
  command->callback([&context, options] {
    auto& words = options->words;
    words.gather();
    options->command = words_after_names(context, words.names, {"NAME", "", "leasehold lock run NAME -- COMMAND..."});
    words.settle();
    context.action = [&context, options] { return run_locked(context, *options); };
  });
}

}  // namespace leasehold::cli
