#include "base/worktree.h"

#include <string_view>
#include <system_error>

#include "base/process.h"

namespace leasehold {
namespace {

namespace fs = std::filesystem;

/// `.git` is the common folder, or a file that names a folder, which again names the common one. Empty if it cannot be
/// read.
fs::path common_git_folder(const fs::path& dot_git) {
  std::error_code failed;
  if (fs::is_directory(dot_git, failed)) return fs::weakly_canonical(dot_git, failed);
  constexpr std::string_view key = "gitdir: ";
  const auto line = first_line_of(dot_git.string());
  if (!line.starts_with(key)) return {};
  const auto folder = dot_git.parent_path() / line.substr(key.size());
  const auto common = first_line_of((folder / "commondir").string());
  return fs::weakly_canonical(common.empty() ? folder : folder / common, failed);
}

}  // namespace

std::optional<Worktree> worktree_of(const fs::path& path) {
  std::error_code failed;
  for (auto folder = path; !folder.empty(); folder = folder.parent_path()) {
    if (fs::exists(folder / ".git", failed)) {
      auto common = common_git_folder(folder / ".git");
      if (!common.empty()) return Worktree{folder, std::move(common)};
    }
    if (folder == folder.parent_path()) break;
  }
  return std::nullopt;
}

}  // namespace leasehold
