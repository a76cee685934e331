// leasehold session close: end a session, and with it all it has claimed.
#include <memory>

#include "cli/command.h"
#include "cli/consent.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/session_options.h"
#include "cli/session_text.h"
#include "wire/wire.h"

namespace leasehold::cli {
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
    print_line(wire::to_json(*session));
  } else if (session->ended_at) {
    say("{} has ended already: there is nothing to close", printable(session->id));
  } else {
    print("would close {}, {}, and release {}", printable(session->id), to_string(session->status),
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
    print_line(wire::to_json(options.session.id, *closed));
    return exit_code::ok;
  }
  print("closed {}", printable(options.session.id));
  for (const auto& item : closed->items) print("  released {}", printable(item));
  return exit_code::ok;
}

}  // namespace

void add_session_close(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "close", "End a session and release all it has claimed",
                              {"leasehold session close --reason 'done for today'    # one's own",
                               "leasehold session close s-81f --reason 'wrong machine' --yes    # by an operator"});
  auto options = std::make_shared<SessionCloseOptions>();
  add_named_session(*command, options->session, true);
  command->add_option("--reason", options->reason, "Why; kept with the session and its claims")
      ->check(not_empty)
      ->type_name("TEXT");
  add_consent(*command, options->consent);
  set_action(*command, context, [&context, options] { return close(context, *options); });
}

}  // namespace leasehold::cli
