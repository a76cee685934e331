// leasehold hook: what a coding agent calls at the events of its life. It keeps a session for the agent and for each of
// its sub-agents, and looks before an edit whether another session holds the file.
//
// It must never stand in the agent's way: without a store in .leasehold.toml or LEASEHOLD_DB it does nothing, and if
// the store cannot be reached or is slow the agent goes on, and gets one message about it.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "base/digest.h"
#include "base/time_text.h"
#include "base/worktree.h"
#include "cli/agents/hook_event.h"
#include "cli/agents/project.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/run/session_heartbeater.h"
#include "cli/run/wrapped_command.h"

namespace leasehold::cli {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

/// An agent waits for its hooks.
constexpr Duration patience = 1s;
/// Between two reports of progress.
constexpr Duration progress_pause = 30s;
constexpr Duration longest_session = std::chrono::hours(24);
constexpr std::size_t event_bytes = 8 * 1024 * 1024;
constexpr int shown_rows = 10;

/// The answer to an event: JSON for stdout. With `blocked`, the text goes to stderr and the exit code is 2.
struct Answer {
  std::string text = go_on();
  bool blocked = false;
};

std::string age(Duration since) { return since < 1s ? "just now" : format_duration(since) + " ago"; }

class Hook {
 public:
  Hook(Store store, std::string url, EditGuard guard, const HookEvent& event)
      : store_(std::move(store)), url_(std::move(url)), guard_(guard), event_(event) {}

  Result<Answer> answer() {
    switch (event_.kind) {
      case HookKind::start: return start();
      case HookKind::subagent_start: return start();
      case HookKind::before_edit: return before_edit();
      case HookKind::after_tool: return after_tool();
      case HookKind::task_completed: return task_completed();
      case HookKind::subagent_stop: return end();
      case HookKind::end: return end();
      case HookKind::other: break;
    }
    return Answer{};
  }

 private:
  /// The id of the agent's session here. A sub-agent has one of its own, in the same process.
  [[nodiscard]] std::string session_id() const {
    const auto id = "agent-" + event_.session;
    return event_.subagent.empty() ? id : id + "/" + event_.subagent;
  }

  /// The session of this event, if it is alive, with its handle.
  Result<std::optional<OwnSession>> own_session() const {
    auto mine = store_.sessions().mine();
    if (!mine) return std::move(mine).error();
    for (auto& one : *mine) {
      if (one.session.id == session_id()) return std::optional(std::move(one));
    }
    return std::optional<OwnSession>();
  }

  /// A new session whose life is that of the agent's process.
  Result<OwnSession> open() const {
    const auto agent = agent_process();
    if (!agent) return Error{.code = Errc::internal, .message = "cannot see the process of the agent in /proc"};
    auto holder = holder_of_process(agent->pid);
    if (!holder) return std::move(holder).error();
    const auto worktree = worktree_of(event_.folder);
    const SessionOptions options{.id = session_id(),
                                 .label = event_.subagent.empty() ? "agent" : "sub-agent",
                                 .codebase = worktree ? worktree->root.string() : event_.folder,
                                 .max_age = longest_session};
    const auto before = BootClock::now();
    auto grant = store_.sessions().open(options, {.holder = *holder});
    if (!grant) return std::move(grant).error();
    auto kept = start_heartbeater({.session = grant->key,
                                   .token = grant->token,
                                   .pid = holder->pid,
                                   .process_start = holder->process_start,
                                   .ttl = grant->ttl,
                                   .until = before + longest_session},
                                  with_absolute_path(url_));
    if (!kept) {
      static_cast<void>(store_.sessions().close(grant->key, grant->token, kept.error().message));
      return std::move(kept).error();
    }
    auto session = store_.sessions().show(grant->key);
    if (!session) return std::move(session).error();
    return OwnSession{.handle = SessionHandle{grant->key, grant->token}.text(), .session = std::move(*session)};
  }

  Result<OwnSession> find_or_open() const {
    auto own = own_session();
    if (!own) return std::move(own).error();
    return *own ? Result<OwnSession>(std::move(**own)) : open();
  }

  Result<Answer> start() const {
    auto own = find_or_open();
    if (!own) return std::move(own).error();
    auto text = fmt::format(
        "leasehold: your session is {}. Pass it as `session` to the tools of the MCP server leasehold, and keep it to "
        "yourself.",
        own->handle);
    auto claims = store_.claims().list({.max = shown_rows});
    if (!claims) return std::move(claims).error();
    for (const auto& claim : claims->items) {
      const bool ours = claim.session == own->session.id;
      text +=
          fmt::format("\n- {}{}: {}", claim.key, claim.title.empty() ? "" : " " + printable(first_line(claim.title)),
                      ours ? "you have it"
                           : fmt::format("session {} on {} has it, last heard {}", claim.session,
                                         claim.held_by.holder.host, age(claim.held_by.heartbeat_age())));
    }
    if (claims->next) text += "\n- and more: call overview";
    if (claims->items.empty()) text += "\nNo item is claimed now.";
    return Answer{tell_model(event_, text)};
  }

  [[nodiscard]] std::string describe(const PathInfo& owner) const {
    return fmt::format("{} is held by session {}{} on {}, last heard {}, frees at {} (in {})", owner.path,
                       owner.session,
                       owner.held_by.label.empty() ? "" : fmt::format(" ({})", printable(owner.held_by.label)),
                       owner.held_by.holder.host, age(owner.held_by.heartbeat_age()),
                       local_time(owner.held_by.expires_at, owner.store_now),
                       format_duration(std::max(Duration(0), owner.held_by.retry_in())));
  }

  Result<Answer> before_edit() const {
    if (guard_ == EditGuard::claim && !event_.paths.empty()) return take_paths();
    std::string found;
    for (const auto& path : event_.paths) {
      auto owners = store_.claims().paths_in_the_way(path, session_id(), {.directory = event_.folder});
      if (!owners) return std::move(owners).error();
      for (const auto& owner : *owners) found += (found.empty() ? "" : "; ") + describe(owner);
    }
    if (found.empty()) return Answer{};
    if (guard_ == EditGuard::warn) return Answer{tell_person(event_, "leasehold: " + found)};
    return Answer{refuse(event_, "leasehold: " + found + ". Work on something else, or wait until it is free.")};
  }

  Result<Answer> take_paths() const {
    auto own = find_or_open();
    if (!own) return std::move(own).error();
    auto taken =
        store_.claims().take_paths(own->session.id, own->session.token, event_.paths, {.directory = event_.folder});
    if (taken) return Answer{};
    if (taken.error().code != Errc::held) return std::move(taken).error();
    return Answer{refuse(event_, "leasehold: " + taken.error().message)};
  }

  /// A tool that ran is progress. The heartbeater keeps the session alive; this shows that it works.
  Result<Answer> after_tool() const {
    auto own = own_session();
    if (!own) return std::move(own).error();
    if (!*own || (*own)->session.progress_age() < progress_pause) return Answer{};
    const auto note = event_.paths.empty() ? event_.tool : fmt::format("{} {}", event_.tool, event_.paths.front());
    auto beat = store_.sessions().heartbeat((*own)->session.id, (*own)->session.token, {.progress = note});
    if (!beat && beat.error().code != Errc::lost) return std::move(beat).error();
    return Answer{};
  }

  /// Refused if an operator, or silence, took an item from this session that no session of ours has again.
  Result<Answer> task_completed() const {
    auto ended = store_.claims().list({.session = session_id(), .ended = true});
    if (!ended) return std::move(ended).error();
    const auto& all = ended->items;
    for (const auto& claim : all) {
      if (claim.active || (claim.end_reason != "revoked" && claim.end_reason != "expired")) continue;
      const bool again = std::any_of(all.begin(), all.end(), [&](const ClaimInfo& other) {
        return other.key == claim.key && other.token > claim.token;
      });
      if (again) continue;
      return Answer{fmt::format("leasehold: the claim on {} was lost ({}): do not report the task as done. Call "
                                "claim_show to see which session has it now",
                                claim.key, claim.end_reason),
                    true};
    }
    return Answer{};
  }

  Result<Answer> end() const {
    auto own = own_session();
    if (!own) return std::move(own).error();
    if (!*own) return Answer{};
    const auto why = event_.reason.empty() ? "the agent ended it" : "the agent ended it: " + event_.reason;
    auto closed = store_.sessions().close((*own)->session.id, (*own)->session.token, why);
    if (!closed && closed.error().code != Errc::lost) return std::move(closed).error();
    return Answer{};
  }

  Store store_;
  std::string url_;
  EditGuard guard_;
  const HookEvent& event_;
};

/// Remembers in a file that the agent knows of the trouble; true the first time.
bool is_first_trouble(const HookEvent& event) {
  const char* run = std::getenv("XDG_RUNTIME_DIR");
  const fs::path folder = run != nullptr && *run != '\0' ? fs::path(run) : fs::temp_directory_path();
  const auto digest = sha256_hex(event.session);
  if (!digest) return true;
  const auto file = folder / fmt::format("leasehold-hook-{}-{}", ::geteuid(), digest->substr(0, 16));
  std::error_code failed;
  if (fs::exists(file, failed)) return false;
  std::ofstream(file) << "reported\n";
  return true;
}

int give(const Answer& answer) {
  if (answer.blocked) {
    say("{}", answer.text);
    return exit_code::usage;  // 2: the agent reads the reason on stderr
  }
  print("{}", answer.text);
  return exit_code::ok;
}

int go_on_without(const HookEvent& event, const Error& why) {
  if (!is_first_trouble(event)) return give({});
  return give({tell_person(event, "leasehold cannot reach its store, so no file is guarded: " + why.message)});
}

int hook(const Context& context) {
  const auto text = read_bytes("-", event_bytes);
  const auto event = text ? read_hook_event(*text) : Result<HookEvent>(text.error());
  if (!event) {
    // 2, the code of wrong usage, would stop the agent.
    static_cast<void>(report(context, event.error()));
    return exit_code::failure;
  }
  if (event->kind == HookKind::other || event->session.empty()) return give({});
  std::error_code failed;
  const auto project = find_project(event->folder.empty() ? fs::current_path(failed) : fs::path(event->folder));
  if (!project) return go_on_without(*event, project.error());
  const bool chosen = !context.db.empty() || std::getenv("LEASEHOLD_DB") != nullptr;
  if (!*project && !chosen) return give({});
  Context here = context;
  if (!chosen) here.db = (*project)->store;
  const auto url = here.store_url();
  if (!url) return go_on_without(*event, url.error());
  auto store = here.open_or_make_store({.call_timeout = patience});
  if (!store) return go_on_without(*event, store.error());
  auto answer = Hook(std::move(*store), *url, *project ? (*project)->guard : EditGuard::deny, *event).answer();
  return answer ? give(*answer) : go_on_without(*event, answer.error());
}

}  // namespace

void add_hook(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "hook",
                  "Answer an event of a coding agent: JSON on stdin and stdout (see `leasehold init --agents`)",
                  {R"(leasehold hook < event.json)"});
  set_action(*command, context, [&context] { return hook(context); });
}

}  // namespace leasehold::cli
