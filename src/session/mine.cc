// The caller's own sessions, found again by the process that they belong to, and the handles that prove them.
#include <algorithm>
#include <charconv>
#include <limits>
#include <tuple>

#include "base/process.h"
#include "base/text.h"
#include "lease/call.h"
#include "session/sessions.h"

namespace leasehold {
namespace {

/// Tokens are microseconds of the epoch: 16 digits from 2001 to 2286, 15 in stores whose tests move the clock back.
constexpr std::size_t min_token_digits = 15;
constexpr std::size_t max_token_digits = 16;

}  // namespace

std::string SessionHandle::text() const { return id + "." + std::to_string(token.value); }

std::optional<SessionHandle> SessionHandle::parse(std::string_view text) {
  const auto dot = text.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return std::nullopt;
  const auto digits = text.substr(dot + 1);
  if (digits.size() < min_token_digits || digits.size() > max_token_digits) return std::nullopt;
  SessionHandle handle{.id = std::string(text.substr(0, dot))};
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), handle.token.value);
  if (failed != std::errc{} || end != digits.data() + digits.size() || digits.front() == '-') return std::nullopt;
  return handle;
}

std::optional<ProcessId> agent_process() {
  const auto line = processes_above();
  for (std::size_t i = 1; i < line.size(); ++i) {
    // Above the last shell there is only the first process, which outlives every agent.
    if (!line[i].is_shell || i + 1 == line.size()) return ProcessId{.pid = line[i].pid, .start = line[i].start};
  }
  return std::nullopt;
}

Result<Holder> holder_of_process(std::int64_t pid, std::string name) {
  auto holder = Holder::self(name);
  const auto start = start_of_process(pid);
  if (holder.boot_id.empty() || !start || look_for_process(pid, *start) != Liveness::alive) {
    return Error{.code = Errc::not_found,
                 .message = "there is no process " + std::to_string(pid) + " that this user can see in /proc"};
  }
  if (name.empty()) holder.name = holder.name.substr(0, holder.name.rfind(':') + 1) + std::to_string(pid);
  holder.pid = pid;
  holder.process_start = *start;
  return holder;
}

namespace session {
namespace {

using Processes = std::vector<ProcessSpot>;

/// The caller and the processes above it, up to the first that is no shell; or, of all above it, the named one.
Result<Processes> processes_of_caller(const std::optional<ProcessId>& named) {
  auto line = processes_above();
  if (named) {
    std::erase_if(line, [&](const ProcessSpot& spot) { return spot.pid != named->pid || spot.start != named->start; });
    if (!line.empty()) return line;
    return Error{.code = Errc::invalid_argument,
                 .message = "process " + std::to_string(named->pid) +
                            " is neither this process nor one above it: only those find their sessions again"};
  }
  const auto past_self = line.begin() + std::min<std::ptrdiff_t>(1, std::ssize(line));
  const auto agent = std::find_if(past_self, line.end(), [](const ProcessSpot& spot) { return !spot.is_shell; });
  if (agent != line.end()) line.erase(agent + 1, line.end());
  return line;
}

bool is_of(const SessionInfo& session, const Processes& processes) {
  return std::any_of(processes.begin(), processes.end(), [&](const ProcessSpot& spot) {
    return session.holder.pid == spot.pid && session.holder.process_start == spot.start;
  });
}

}  // namespace
}  // namespace session

Result<std::vector<OwnSession>> Sessions::mine(std::optional<ProcessId> process) const {
  auto processes = session::processes_of_caller(process);
  if (!processes) return std::move(processes).error();
  // Without a boot id, a pid says nothing.
  if (own_boot_id().empty()) return std::vector<OwnSession>{};
  std::vector<std::int64_t> pids;
  for (const auto& spot : *processes) pids.push_back(spot.pid);
  sql::SessionList statement{.id = std::nullopt};
  statement.max = std::numeric_limits<int>::max();
  statement.boot_id = own_boot_id();
  statement.pids = pids;
  auto sessions = impl_->new_call().list(statement, session::session_info_from);
  if (!sessions) return std::move(sessions).error();
  std::vector<OwnSession> own;
  for (auto& found : *sessions) {
    const bool alive = found.state == SessionState::active || found.state == SessionState::idle;
    if (!alive || !session::is_of(found, *processes)) continue;
    auto handle = SessionHandle{found.id, found.token}.text();
    own.push_back({.handle = std::move(handle), .session = std::move(found)});
  }
  std::sort(own.begin(), own.end(), [](const OwnSession& a, const OwnSession& b) {
    return std::tie(b.session.opened_at, a.session.id) < std::tie(a.session.opened_at, b.session.id);
  });
  return own;
}

}  // namespace leasehold
