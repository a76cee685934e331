#include "cli/agents/project.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "base/text.h"
#include "base/toml.h"
#include "base/worktree.h"
#include "cli/input.h"
#include "core/store_url.h"

namespace leasehold::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t project_bytes = 64 * 1024;
constexpr std::array<std::pair<std::string_view, EditGuard>, 3> guard_words = {
    {{"deny", EditGuard::deny}, {"warn", EditGuard::warn}, {"claim", EditGuard::claim}}};

class ProjectReader {
 public:
  explicit ProjectReader(fs::path file) { project_.file = std::move(file); }

  Result<Project> read() {
    auto text = read_bytes(project_.file.string(), project_bytes);
    if (!text) return std::move(text).error();
    const auto parsed = read_toml(*text, project_.file.string());
    if (!parsed) return parsed.error();
    for (const auto& [key, node] : *parsed) take(key.str(), node);
    if (!error_ && project_.store.empty()) wrong(1, "`store` is missing: store = \"sqlite:{git}/leasehold.db\"");
    if (error_) return std::move(*error_);
    return std::move(project_);
  }

 private:
  Error wrong(int line, std::string_view what) {
    if (!error_) error_ = invalid(fmt::format("{}:{}: {}", project_.file.string(), line, what));
    return *error_;
  }

  void take(std::string_view key, const toml::node& node) {
    const auto line = line_of(node);
    const auto text = node.value<std::string>();
    if (key != "store" && key != "guard") {
      wrong(line, fmt::format("unknown key {}: the keys are store and guard", leasehold::quoted(key)));
    } else if (!node.is_string() || !text) {
      wrong(line, fmt::format("{} must be a text in quotes", key));
    } else if (key == "store") {
      take_store(line, *text);
    } else {
      take_guard(line, *text);
    }
  }

  void take_store(int line, const std::string& text) {
    project_.store = text;
    fill("{here}", project_.file.parent_path().string());
    if (text.find("{git}") != std::string::npos) {
      const auto worktree = worktree_of(project_.file.parent_path());
      if (!worktree) {
        wrong(line, "{git} needs a git repository around this file: write {here} or a whole path");
        return;
      }
      fill("{git}", worktree->common.string());
    }
    if (const auto url = parse_store_url(project_.store); !url) wrong(line, url.error().message);
  }

  void fill(std::string_view place, const std::string& value) {
    const auto at = project_.store.find(place);
    if (at != std::string::npos) project_.store.replace(at, place.size(), value);
  }

  void take_guard(int line, const std::string& text) {
    for (const auto& [word, guard] : guard_words) {
      if (word != text) continue;
      project_.guard = guard;
      return;
    }
    wrong(line, fmt::format("guard is {}: write deny, warn or claim", leasehold::quoted(text)));
  }

  Project project_;
  std::optional<Error> error_;
};

}  // namespace

Result<std::optional<Project>> find_project(const fs::path& folder) {
  for (auto place = folder; !place.empty(); place = place.parent_path()) {
    const auto file = place / project_file_name;
    struct stat facts {};
    if (::stat(file.c_str(), &facts) == 0) {
      if (facts.st_uid != ::geteuid() && facts.st_uid != 0) {
        return invalid(file.string() + " belongs to another user: name the store with --db or LEASEHOLD_DB");
      }
      auto project = ProjectReader(file).read();
      if (!project) return std::move(project).error();
      return std::optional(std::move(*project));
    }
    if (place == place.parent_path()) break;
  }
  return std::optional<Project>();
}

std::string project_text(std::string_view store) {
  return fmt::format(
      R"(# The store that leasehold uses in this folder and below it, unless --db or LEASEHOLD_DB names another.
# {{git}} is the git folder that all worktrees of the repository share, {{here}} the folder of this file.
store = "{}"

# Before an agent edits a file that another live session holds: deny refuses, warn tells it, claim takes the file first.
guard = "deny"
)",
      store);
}

}  // namespace leasehold::cli
