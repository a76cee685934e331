// leasehold session open: register a session; with --watch-pid a heartbeater stays behind, otherwise no process does.
#include <fmt/format.h>
#include <limits>
#include <memory>

#include "act/answers.h"
#include "base/time_text.h"
#include "cli/bind/session_options.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/run/session_heartbeater.h"
#include "cli/run/wrapped_command.h"
#include "cli/run/wrapper_variables.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

/// A forgotten heartbeater ends after this time.
constexpr Duration default_age_of_watched = std::chrono::hours(24);

struct SessionOpenOptions {
  SessionFace face;
  int pid = 0;
  int watched_pid = 0;
  bool export_lines = false;
  bool quiet = false;
};

/// Quoted as a word for a shell.
std::string shell_word(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string(R"('\'')") : std::string(1, c);
  return word + "'";
}

Result<Holder> holder_for(const SessionOpenOptions& options) {
  const int pid = options.pid != 0 ? options.pid : options.watched_pid;
  return pid != 0 ? holder_in_process(pid, options.face.holder) : calling_process(options.face.holder);
}

/// "stale 5m after its last heartbeat", limited by its maximum age.
std::string describe_staleness(Duration ttl, const std::optional<Duration>& max_age, std::string_view after) {
  if (max_age && *max_age <= ttl) return fmt::format("stale in {}, heartbeats or not", format_duration(*max_age));
  const auto latest = max_age ? fmt::format(", in {} at the latest", format_duration(*max_age)) : "";
  return fmt::format("stale {} after {}{}", format_duration(ttl), after, latest);
}

void print_session(const Context& context, const SessionOpenOptions& options, const Grant& grant) {
  if (context.json) return print_line(model::to_json(act::SessionGrant{grant}));
  if (options.export_lines) {
    print("export {}={}", held::session.key_variable, shell_word(grant.key));
    print("export {}={}", held::session.token_variable, grant.token.value);
    // The value from an outer `session run` is the store of another session.
    if (environment_value(held::session.store_variable)) print("unset {}", held::session.store_variable);
    return;
  }
  if (options.quiet) return print("{} {}", printable(grant.key), grant.token.value);
  print("opened {}  token {}  {}", printable(grant.key), grant.token.value,
        describe_staleness(grant.ttl, options.face.options.max_age, "its last heartbeat"));
}

/// Warns about surprising ends.
void warn_about_its_end(const SessionOpenOptions& options, const Grant& grant) {
  const int pid = options.pid != 0 ? options.pid : options.watched_pid;
  if (pid == 0) {
    say("leasehold: cannot tell whether this session is alive: it is {} (better: --pid, --watch-pid or `session run`)",
        describe_staleness(grant.ttl, options.face.options.max_age, "its last `leasehold session heartbeat`"));
  } else if (ends_with_its_command(pid)) {
    say("leasehold: process {} is a shell that runs one command line (-c): the session ends with it; for a longer one "
        "name a process that stays, or use `leasehold session run`",
        pid);
  }
}

/// Only the heartbeater knows the session yet: without it, the session is closed again.
int close_again(const Context& context, const Sessions& sessions, const Grant& grant, const Error& why) {
  static_cast<void>(sessions.close(grant.key, grant.token, why.message));
  return report(context, why);
}

Result<void> keep_alive(const Context& context, const Grant& grant, BootTime until) {
  const auto url = context.store_url();
  if (!url) return url.error();
  return start_heartbeater({.session = grant.key,
                            .token = grant.token,
                            .pid = grant.holder.pid,
                            .process_start = grant.holder.process_start,
                            .ttl = grant.ttl,
                            .until = until},
                           with_absolute_path(*url));
}

int open(const Context& context, SessionOpenOptions& options) {
  auto holder = holder_for(options);
  if (!holder) return report(context, holder.error());
  const bool watched = options.watched_pid != 0;
  auto& session = options.face.options;
  if (watched && !session.max_age) session.max_age = default_age_of_watched;
  auto store = context.open_or_make_store();
  if (!store) return report(context, store.error());
  const auto before = BootClock::now();
  const auto grant = store->sessions().open(session, {.holder = *holder});
  if (!grant) return report(context, grant.error());
  if (watched) {
    const auto kept = keep_alive(context, *grant, before + *session.max_age);
    if (!kept) return close_again(context, store->sessions(), *grant, kept.error());
  }
  print_session(context, options, *grant);
  if (!options.quiet) warn_about_its_end(options, *grant);
  return exit_code::ok;
}

void add_options(CLI::App& command, SessionOpenOptions& options) {
  add_session_face(command, options.face);
  constexpr int greatest_pid = std::numeric_limits<int>::max();
  auto* pid =
      add_number(command, "--pid", options.pid, 1, greatest_pid,
                 "Process of the session: on this host its end is noticed at once. You still have to send heartbeats");
  add_number(command, "--watch-pid", options.watched_pid, 1, greatest_pid,
             fmt::format("Like --pid, but start a heartbeater that keeps the session alive until the process ends, "
                         "then closes it and exits (at the latest after --max-age, default {})",
                         format_duration(default_age_of_watched)))
      ->excludes(pid);
  auto* lines =
      command.add_flag("--export", options.export_lines, "Print lines for eval: LEASEHOLD_SESSION and its token");
  command.add_flag("-q,--quiet", options.quiet, "Print only id and token")->excludes(lines);
}

}  // namespace

void add_session_open(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "open",
                              "Register a session, so that it can claim items (exit code 75: the id is in use)",
                              {"eval \"$(leasehold session open --label 'fixing the parser' --watch-pid $$ --export)\"",
                               "leasehold session open --id ann-1 --codebase ~/src/parser --pid $$",
                               "leasehold session open --json | jq -r .id"});
  auto options = std::make_shared<SessionOpenOptions>();
  add_options(*command, *options);
  set_action(*command, context, [&context, options] { return open(context, *options); });
}

}  // namespace leasehold::cli
