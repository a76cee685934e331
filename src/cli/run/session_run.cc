// leasehold session run: a session that lives exactly as long as a command.
#include <fmt/format.h>
#include <atomic>
#include <cstring>
#include <memory>
#include <stop_token>

#include "cli/bind/session_options.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/run/command_runner.h"
#include "cli/run/command_stops.h"
#include "cli/run/wrapped_command.h"
#include "cli/run/wrapper_variables.h"
#include "run/supervisor.h"

namespace leasehold::cli {
namespace {

using run::Ending;
using run::Supervisor;

struct SessionRunOptions {
  SessionFace face;
  Grace grace;
  bool stop_when_lost = false;
  std::string program;
  std::vector<std::string> command;
};

/// The moment until which the command may run. An interactive agent is not killed because the database was unreachable:
/// its guardian ends it with this process, but not with the lease, unless requested.
BootTime end_of_trust(const SessionRunOptions& options, const Grant& grant) {
  return options.stop_when_lost ? grant.trusted_until : BootClock::now() + std::chrono::years(100);
}

/// The grace is bounded only if the command has to be gone before the lease ends.
Duration grace_of(const SessionRunOptions& options) {
  return options.stop_when_lost ? options.grace.fitting(options.face.options.ttl) : options.grace.asked_for;
}

/// How a command ended by itself, as the reason for closing its session.
std::string reason_of_exit(const Ending& ending) {
  return ending.signal == 0 ? fmt::format("exited {}", ending.exit_code) : describe_exit(ending);
}

/// One run of the command under its session.
class SessionRun {
 public:
  SessionRun(const Context& context, const SessionRunOptions& options, Supervisor& supervisor, Sessions sessions,
             HeldLease held)
      : context_(context),
        options_(options),
        supervisor_(supervisor),
        sessions_(std::move(sessions)),
        held_(std::move(held)),
        text_{.what = "session " + printable(held_.grant().key), .expiry = "goes stale"} {}

  int run(const std::string& url) {
    const auto grant = held_.grant();
    held_.on_extended([this](const Grant& extended) { supervisor_.extend(end_of_trust(options_, extended)); });
    const HeldThing session{.key = grant.key, .token = grant.token, .expires_at = grant.expires_at, .url = url};
    supervisor_.start(wrapper_variables(held::session, session), end_of_trust(options_, grant));
    return conclude(wait());
  }

 private:
  Ending wait() {
    const std::stop_callback on_lost(held_.stop_token(), [this] {
      lost_ = true;
      options_.stop_when_lost ? supervisor_.stop() : report_loss();
    });
    return supervisor_.wait();
  }

  void report_loss() const {
    const auto why = held_.lost();
    say("leasehold: session {} is lost, and others may take its items; the command continues ({})",
        printable(held_.grant().key), printable(why ? why->message : "no heartbeat got through in time"));
  }

  int conclude(const Ending& ending) {
    switch (ending.kind) {
      case Ending::Kind::exited: close(reason_of_exit(ending)); return ended_with(ending.exit_code);
      case Ending::Kind::start_failed:
        say("leasehold: {}", not_started_text(options_.command[0], ending.error));
        close(fmt::format("could not be started: {}", std::strerror(ending.error)));
        return ended_with(ending.exit_code);
      case Ending::Kind::lease_lost: return after_loss();
      case Ending::Kind::guardian_died:
        say("leasehold: {}", guardian_died_text);
        close(describe_exit(ending));
        return ended_with(own_failure);
      case Ending::Kind::survived: break;
    }
    text_.leave_to_expiry(held_.grant().expires_at);
  }

  [[nodiscard]] int ended_with(int code) const { return report_ended(context_, "id", held_.grant(), code); }

  int after_loss() {
    const auto why = held_.lost();
    text_.report_forced_end(why);
    close("killed with its lease");
    if (why) report(context_, *why);
    return exit_code::lost;
  }

  /// With the real reason, and before the heartbeats end: they would close it without one.
  void close(const std::string& reason) {
    const auto grant = held_.grant();
    const auto closed = sessions_.close(grant.key, grant.token, reason);
    if (closed || lost_) return;
    if (closed.error().code == Errc::lost) return text_.report_late_loss();
    text_.report_unreported_end(closed.error(), grant.expires_at);
  }

  const Context& context_;
  const SessionRunOptions& options_;
  Supervisor& supervisor_;
  const Sessions sessions_;
  HeldLease held_;
  const HeldText text_;
  std::atomic<bool> lost_ = false;
};

int run_in_session(const Context& context, SessionRunOptions& options) {
  // First of all, before there is a thread or a connection that a fork would copy.
  auto supervisor = Supervisor::fork_guardian(options.command, grace_of(options),
                                              [](const std::string& line) { say("leasehold: {}", line); });
  if (!supervisor) return report_failure(context, supervisor.error());
  const auto url = context.store_url();
  if (!url) return report_failure(context, url.error());
  const auto store = context.open_or_make_store();
  if (!store) return report_failure(context, store.error());
  auto held = store->sessions().hold(options.face.options,
                                     {.holder = holder_guarded_by((*supervisor)->guardian(), options.face.holder)});
  if (!held) return report_failure(context, held.error());
  return SessionRun(context, options, **supervisor, store->sessions(), std::move(*held)).run(*url);
}

}  // namespace

void add_session_run(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "run", "Run a command in its own session, and close the session when the command ends",
      {"leasehold session run --label 'fixing the parser' -- ./agent",
       "leasehold session run --id ann-1 --codebase ~/src/parser -- bash    # then: leasehold claim take SD-1",
       "leasehold session run --stop-when-lost --grace 10s -- ./work-the-backlog"});
  auto options = std::make_shared<SessionRunOptions>();
  add_session_face(*command, options->face);
  command->add_flag("--stop-when-lost", options->stop_when_lost,
                    "Kill the command when the session is lost (exit code 76); by default it continues");
  add_grace(*command, options->grace, "with --stop-when-lost at most a third of --ttl");
  // The parser knows only the program; prefix_command leaves the words after it unchanged.
  command->prefix_command();
  command
      ->add_option("COMMAND", options->program,
                   "After --: the program and its arguments; no shell is involved. The environment has "
                   "LEASEHOLD_SESSION, LEASEHOLD_SESSION_TOKEN, LEASEHOLD_SESSION_DB and LEASEHOLD_DB. If this process "
                   "is killed, leasehold kills the command and all it started")
      ->required()
      ->type_name("");
  command->callback([&context, options, command] {
    options->command =
        words_after_mark(*command, context, {"run", "run", "leasehold session run -- COMMAND..."}, options->program);
    context.action = [&context, options] { return run_in_session(context, *options); };
  });
}

}  // namespace leasehold::cli
