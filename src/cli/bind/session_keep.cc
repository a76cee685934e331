// leasehold session heartbeat, park, close.
#include <fmt/format.h>
#include <memory>

#include "act/answers.h"
#include "base/time_text.h"
#include "cli/bind/chunk_options.h"
#include "cli/bind/session_options.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/session_text.h"
#include "leasehold/limits.h"
#include "model/json.h"

namespace leasehold::cli {

// leasehold session heartbeat: report a session as alive; with --progress also as working.
namespace {

struct SessionHeartbeatOptions {
  NamedSession session;
  std::optional<std::string> progress;
};

int heartbeat(const Context& context, const SessionHeartbeatOptions& options) {
  const auto token = options.session.needed_proof();
  if (!token) return report(context, token.error());
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  SessionHeartbeat heartbeat;
  if (options.progress) heartbeat.progress = *options.progress;
  const auto grant = store->sessions().heartbeat(options.session.id, *token, heartbeat);
  if (!grant) return report(context, grant.error());
  if (context.json) {
    print_line(model::to_json(act::SessionGrant{*grant}));
  } else {
    print("extended {}  until {} ({})", printable(grant->key), local_time(grant->expires_at, wall_clock()),
          format_duration(grant->ttl));
  }
  return exit_code::ok;
}

}  // namespace

void add_session_heartbeat(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "heartbeat",
                              "Keep a session alive, and report its --progress; a stale session is lost (exit code 76)",
                              {"leasehold session heartbeat --progress 'tests are green'    # under `session run`",
                               "leasehold session heartbeat s-81f --token 1763200000000000"});
  auto options = std::make_shared<SessionHeartbeatOptions>();
  add_named_session(*command, context, options->session, true);
  command
      ->add_option(
          "--progress", options->progress,
          fmt::format("Work done, up to {} bytes: the session is working, and no longer parked", bounds::text_bytes))
      ->type_name("TEXT");
  set_action(*command, context, [&context, options] { return heartbeat(context, *options); });
}

// leasehold session park: announce a silence, which does not make a session stale.
namespace {

struct SessionParkOptions {
  NamedSession session;
  std::optional<Duration> silence;
  bool end = false;
};

int park(const Context& context, const SessionParkOptions& options) {
  if (options.silence.has_value() == options.end) {
    return report(context, {.code = Errc::invalid_argument, .message = "use either --for DURATION or --end"});
  }
  const auto token = options.session.needed_proof();
  if (!token) return report(context, token.error());
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto silence = options.silence.value_or(Duration::zero());
  const auto grant = store->sessions().park(options.session.id, *token, silence);
  if (!grant) return report(context, grant.error());
  if (context.json) {
    print_line(model::to_json(act::SessionGrant{*grant}));
  } else if (options.end) {
    print("{} is no longer parked", printable(grant->key));
  } else {
    print("parked {} for {}: it is not stale before {}", printable(grant->key), format_duration(silence),
          local_time(grant->expires_at, wall_clock()));
  }
  return exit_code::ok;
}

}  // namespace

void add_session_park(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "park", "Park a session: it keeps its claims for a time without a heartbeat",
                  {"leasehold session park --for 30m    # lunch; progress or --end ends it earlier",
                   "leasehold session park s-81f --token 1763200000000000 --end"});
  auto options = std::make_shared<SessionParkOptions>();
  add_named_session(*command, context, options->session, true);
  auto* silence = add_duration(*command, "--for", options->silence,
                               "Park it for this long, up to " + format_duration(bounds::max_park));
  command->add_flag("--end", options->end, "End the parking")->excludes(silence);
  set_action(*command, context, [&context, options] { return park(context, *options); });
}

// leasehold session close: end a session and all its claims.
namespace {

struct SessionCloseOptions {
  NamedSession session;
  std::string reason;
  Consent consent;
};

int show_what_would_end(const Context& context, const Store& store, const SessionCloseOptions& options) {
  const auto session = store.sessions().show(options.session.id);
  if (!session) return report(context, session.error());
  if (context.json) {
    print_line(model::to_json(*session));
  } else if (session->ended_at) {
    say("{} has ended already: there is nothing to close", printable(session->id));
  } else {
    print("would close {}, {}, and release {}", printable(session->id), to_string(session->state),
          counted(session->claims, "claim"));
  }
  return session->ended_at ? exit_code::nothing_to_do : exit_code::ok;
}

Result<SessionClosed> end(const Sessions& sessions, const SessionCloseOptions& options,
                          const std::optional<Token>& proof) {
  if (proof) return sessions.close(options.session.id, *proof, options.reason);
  return sessions.revoke(options.session.id, options.reason);
}

int close(const Context& context, const SessionCloseOptions& options) {
  const auto proof = options.session.proof();
  if (!proof && !options.consent.given()) {
    return ask_for_yes(context, "without the session's token this is an operator's act");
  }
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  if (options.consent.dry_run) return show_what_would_end(context, *store, options);
  const auto closed = end(store->sessions(), options, proof);
  if (!closed) return report(context, closed.error());
  if (context.json) {
    print_line(model::to_json(*closed));
    return exit_code::ok;
  }
  print("closed {}", printable(options.session.id));
  for (const auto& item : closed->items) print("  released {}", printable(item));
  return exit_code::ok;
}

}  // namespace

void add_session_close(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "close", "End a session and release all its claims",
                              {"leasehold session close --reason 'done for today'    # your own",
                               "leasehold session close s-81f --reason 'wrong machine' --yes    # by an operator"});
  auto options = std::make_shared<SessionCloseOptions>();
  add_named_session(*command, context, options->session, true);
  command->add_option("--reason", options->reason, "Reason; kept with the session and its claims")
      ->check(not_empty)
      ->type_name("TEXT");
  add_consent(*command, options->consent);
  set_action(*command, context, [&context, options] { return close(context, *options); });
}

}  // namespace leasehold::cli
