#include "cli/context.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "cli/agents/project.h"
#include "core/store_url.h"

namespace leasehold::cli {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool has_scheme(std::string_view text) {
  const auto scheme = text.substr(0, text.find(':'));
  const auto fits = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+'; };
  return !scheme.empty() && scheme.size() < text.size() && std::all_of(scheme.begin(), scheme.end(), fits);
}

/// Users write --db ./work.db; a word that is not a path stays unchanged, and the store explains what a URL is. So does
/// a mistyped server address: as a path it would be repeated in messages, and become a file.
std::string as_url(std::string text) {
  const bool path =
      !has_scheme(text) && !may_hold_password(text) && (text.find('/') != std::string::npos || text.ends_with(".db"));
  return path ? "sqlite:" + text : text;
}

/// The base folder of the XDG specification, which requires that relative values are ignored.
Result<std::filesystem::path> state_folder() {
  if (std::filesystem::path state = variable("XDG_STATE_HOME"); state.is_absolute()) return state;
  if (std::filesystem::path home = variable("HOME"); home.is_absolute()) return home / ".local" / "state";
  return Error{.code = Errc::invalid_argument,
               .message = "no store given and neither XDG_STATE_HOME nor HOME is set: use --db URL or LEASEHOLD_DB"};
}

Result<std::filesystem::path> default_folder() {
  auto state = state_folder();
  if (!state) return std::move(state).error();
  return *state / "leasehold";
}

/// Accessible to its owner only, as the XDG specification requires; the same for missing parent folders.
Result<void> make_folder(const std::filesystem::path& folder) {
  std::filesystem::path made;
  for (const auto& part : folder) {
    made /= part;
    if (::mkdir(made.c_str(), 0700) == 0 || errno == EEXIST) continue;
    const auto why = std::generic_category().message(errno);
    std::error_code ignored;
    if (std::filesystem::is_directory(made, ignored)) continue;  // a read-only root exists all the same
    return Error{.code = Errc::unavailable,
                 .message = fmt::format("cannot create the folder {}: {}; use --db URL to put the store elsewhere",
                                        folder.string(), why)};
  }
  return {};
}

Result<std::optional<Project>> project_here() {
  std::error_code failed;
  const auto folder = std::filesystem::current_path(failed);
  if (failed) return std::optional<Project>();
  return find_project(folder);
}

}  // namespace

std::string shown_url(std::string url) {
  url = url.substr(0, url.find('?'));
  const auto begin = url.find("://");
  const auto at = url.rfind('@');
  const auto colon = begin == std::string::npos ? begin : url.find(':', begin + 3);
  if (at != std::string::npos && colon != std::string::npos && colon < at) url.erase(colon, at - colon);
  return url;
}

Result<std::string> Context::store_url() const {
  if (!db.empty()) return as_url(db);
  if (const char* given = std::getenv("LEASEHOLD_DB"); given != nullptr) {
    // Most likely an unset variable in a script: a lock in some other store would look like one in this.
    if (*given == '\0') {
      return Error{
          .code = Errc::invalid_argument,
          .message = "LEASEHOLD_DB is empty: unset it, or write sqlite:PATH or postgresql://USER@HOST/DATABASE"};
    }
    return as_url(given);
  }
  auto project = project_here();
  if (!project) return std::move(project).error();
  if (*project) return (*project)->store;
  auto folder = default_folder();
  if (!folder) return std::move(folder).error();
  return "sqlite:" + (*folder / "leasehold.db").string();
}

Result<std::string> Context::store_url_to_make() const {
  const bool chosen = !db.empty() || std::getenv("LEASEHOLD_DB") != nullptr;
  if (chosen) return store_url();
  auto project = project_here();
  if (!project) return std::move(project).error();
  if (*project) return (*project)->store;
  auto folder = default_folder();
  if (!folder) return std::move(folder).error();
  if (auto made = make_folder(*folder); !made) return std::move(made).error();
  return store_url();
}

Result<Store> Context::open_store(OpenOptions options) const {
  auto url = store_url();
  if (!url) return std::move(url).error();
  options.create = false;
  return Store::open(*url, options);
}

Result<Store> Context::open_or_make_store(const OpenOptions& options) const {
  auto url = store_url_to_make();
  if (!url) return std::move(url).error();
  return Store::open(*url, options);
}

}  // namespace leasehold::cli
