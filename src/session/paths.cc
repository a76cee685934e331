// Claims::take_paths and its kin: files and folders that sessions hold.
//
// The store knows texts with slashes: this file turns a path into one. Two ways to write the same file become the same
// text, because symbolic links are followed and `.` and `..` are taken out. The text begins with the host, so that
// equal paths of two machines differ; a path for a whole repository begins with its common git folder instead of the
// folder of one worktree.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/process.h"
#include "base/text.h"
#include "base/worktree.h"
#include "lease/answer.h"
#include "lease/call.h"
#include "lease/page.h"
#include "lease/reap.h"
#include "model/bounds.h"
#include "model/described.h"
#include "session/sessions.h"

namespace leasehold {
namespace session {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view repository_mark = "repo=";

Error bad_path(std::string_view path, std::string_view why) {
  return {.code = Errc::invalid_argument,
          .message = fmt::format("path {} {}", leasehold::quoted(path, bounds::path_bytes), why)};
}

/// Absolute, without links, dots and a slash at its end. What does not exist keeps its name.
Result<fs::path> real_path(std::string_view path, const std::string& directory) {
  std::error_code failed;
  auto base = directory.empty() ? fs::current_path(failed) : fs::absolute(directory, failed);
  if (failed) return bad_path(directory, "cannot be found: " + failed.message());
  auto real = fs::weakly_canonical(base / fs::path(path), failed);
  if (failed) return bad_path(path, "cannot be followed: " + failed.message());
  return real.has_filename() ? real : real.parent_path();
}

/// As one part of a path.
std::string as_one_part(std::string_view text) {
  std::string part;
  for (const char c : text) part += c == '/' ? "%2F" : c == '%' ? "%25" : std::string(1, c);
  return part;
}

std::string from_one_part(std::string_view part) {
  std::string text;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const auto code = part.substr(i, 3);
    text += code == "%2F" ? '/' : code == "%25" ? '%' : part[i];
    if (code == "%2F" || code == "%25") i += 2;
  }
  return text;
}

Result<void> check_stored(std::string_view path, const std::string& stored) {
  if (auto checked = check_utf8("path", stored); !checked) return checked;
  if (stored.size() <= bounds::path_bytes) return {};
  return bad_path(path, fmt::format("has {} bytes with its host, {} are allowed", stored.size(), bounds::path_bytes));
}

Result<std::vector<std::string>> stored_paths(const std::vector<std::string>& paths, const PathOptions& options) {
  if (paths.size() > bounds::max_paths) {
    return Error{.code = Errc::invalid_argument,
                 .message = fmt::format("{} paths are too many: up to {} at a time", paths.size(), bounds::max_paths)};
  }
  std::vector<std::string> stored;
  for (const auto& path : paths) {
    auto one = stored_path(path, options);
    if (!one) return std::move(one).error();
    stored.push_back(std::move(*one));
  }
  std::sort(stored.begin(), stored.end());
  stored.erase(std::unique(stored.begin(), stored.end()), stored.end());
  return stored;
}

std::int64_t number_in(const sql::ClaimAnswer& answer) { return std::stoll(answer.label.value_or("0")); }

PathInfo path_info_from(sql::PathList::Row& row) {
  auto place = place_of_path(row.path);
  PathInfo info{.path = place.path, .host = std::move(place.host), .repository = std::move(place.repository)};
  info.held_by = owner_from(row, place.path);
  info.held_by.kind = "path";
  // The token is the session's: the proof of its holder.
  info.held_by.token = {};
  info.session = std::move(row.session_id);
  info.taken_at = row.taken_at;
  info.store_now = row.store_now;
  return info;
}

std::vector<std::string_view> views_of(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

}  // namespace

Result<std::string> stored_path(std::string_view path, const PathOptions& options) {
  if (path.empty()) return Error{.code = Errc::invalid_argument, .message = "the path is empty"};
  auto real = real_path(path, options.directory);
  if (!real) return std::move(real).error();
  auto stored = host_name() + ":";
  const auto worktree = options.repo_wide ? worktree_of(*real) : std::nullopt;
  if (worktree) {
    stored += std::string(repository_mark) + as_one_part(worktree->common.string());
    const auto below = real->lexically_relative(worktree->root).string();
    if (below != ".") stored += "/" + below;
  } else if (*real != real->root_path()) {
    stored += real->string();
  }
  if (auto checked = check_stored(path, stored); !checked) return std::move(checked).error();
  return stored;
}

PathPlace place_of_path(std::string_view stored) {
  const auto colon = stored.find(':');
  if (colon == std::string_view::npos) return {.path = std::string(stored)};
  PathPlace place{.host = std::string(stored.substr(0, colon))};
  auto rest = stored.substr(colon + 1);
  if (rest.starts_with(repository_mark)) {
    const auto end = std::min(rest.find('/'), rest.size());
    place.repository = from_one_part(rest.substr(repository_mark.size(), end - repository_mark.size()));
    rest.remove_prefix(end);
    place.path = rest.empty() ? "." : rest.substr(1);
  } else {
    place.path = rest.empty() ? "/" : rest;
  }
  return place;
}

std::string describe_path(const PathPlace& place) {
  if (place.host.empty()) return "path " + leasehold::quoted(place.path, bounds::path_bytes);
  const auto where = place.repository.empty()
                         ? " on " + place.host
                         : " of repository " + leasehold::quoted(place.repository, bounds::path_bytes);
  return "path " + leasehold::quoted(place.path, bounds::path_bytes) + where;
}

}  // namespace session

Result<PathsTaken> Claims::take_paths(std::string_view session, Token session_token,
                                      const std::vector<std::string>& paths, const PathOptions& options,
                                      const Call& call) const {
  if (auto checked = check_name("session id", session); !checked) return std::move(checked).error();
  if (auto checked = check_call(call); !checked) return std::move(checked).error();
  if (auto checked = model::check_fields_of(options); !checked) return std::move(checked).error();
  if (paths.empty()) return Error{.code = Errc::invalid_argument, .message = "no path to take: name one"};
  const auto stored = session::stored_paths(paths, options);
  if (!stored) return stored.error();
  const auto listed = session::views_of(*stored);
  const sql::PathTake statement{.session_id = session, .session_token = session_token.value, .paths = listed};
  impl_->housekeeper->before_work();
  auto store = impl_->new_call(call);
  const auto ask = [&] { return store.ask_again(statement); };
  auto answer = lease::ask_past_dead_holders(store, ask);
  if (answer && session::end_if_gone(store.backend(), session, store.deadline())) {
    answer = ask();
    if (answer && answer->outcome.done()) return session::stale_session(session);
  }
  if (!answer) return std::move(answer).error();
  if (!answer->outcome.done()) return session::path_refusal(*answer, session);
  PathsTaken taken{.session = std::string(session),
                   .added = session::number_in(*answer),
                   .expires_at = answer->expires_at.value_or(Timestamp{})};
  for (const auto& path : *stored) taken.paths.push_back(session::place_of_path(path).path);
  return taken;
}

Result<std::int64_t> Claims::release_paths(std::string_view session, Token session_token,
                                           const std::vector<std::string>& paths, const PathOptions& options) const {
  if (auto checked = check_name("session id", session); !checked) return std::move(checked).error();
  if (auto checked = model::check_fields_of(options); !checked) return std::move(checked).error();
  const auto stored = session::stored_paths(paths, options);
  if (!stored) return stored.error();
  const auto listed = session::views_of(*stored);
  sql::PathRelease statement{.session_id = session, .session_token = session_token.value, .paths = listed};
  statement.every = listed.empty();
  auto answer = impl_->new_call().ask_again(statement);
  if (!answer) return std::move(answer).error();
  if (!answer->outcome.done()) return session::path_refusal(*answer, session);
  return session::number_in(*answer);
}

Result<Page<PathInfo>> Claims::list_paths(const PathFilter& filter) const {
  if (auto checked = model::check_fields_of(filter); !checked) return std::move(checked).error();
  sql::PathList statement{.session_id = std::nullopt};
  if (!filter.session.empty()) statement.session_id = filter.session;
  if (!filter.page.empty()) statement.after = filter.page;
  statement.max = lease::rows_for(filter.max);
  std::vector<std::string> keys;
  auto rows = impl_->new_call().list(statement, [&keys](sql::PathList::Row& row) {
    keys.push_back(row.path);
    return session::path_info_from(row);
  });
  return lease::page_of(std::move(rows), filter.max,
                        [&keys](const auto& shown) { return keys[static_cast<std::size_t>(std::ssize(shown)) - 1]; });
}

Result<std::vector<PathInfo>> Claims::paths_in_the_way(std::string_view path, std::string_view session,
                                                       const PathOptions& options) const {
  if (auto checked = model::check_fields_of(options); !checked) return std::move(checked).error();
  const auto stored = session::stored_path(path, options);
  if (!stored) return stored.error();
  sql::PathList statement{.session_id = std::nullopt, .rivals_of = *stored};
  if (!session.empty()) statement.session_id = session;
  statement.max = lease::rows_for(defaults::list_max);
  auto found = impl_->new_call().list(statement, session::path_info_from);
  if (found) {
    // What a stale session has, the next take gets.
    std::erase_if(*found, [](const PathInfo& info) { return info.held_by.state != LeaseState::running; });
  }
  return found;
}

}  // namespace leasehold
