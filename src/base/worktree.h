// The git worktree that contains a path, found by looking at files: git itself need not be installed.
//
//   if (auto worktree = worktree_of(std::filesystem::current_path())) use(worktree->common);
#pragma once

#include <filesystem>
#include <optional>

namespace leasehold {

struct Worktree {
  std::filesystem::path root;
  std::filesystem::path common;  ///< the git folder that all worktrees of the repository share
};

/// The innermost worktree that contains this path; nothing outside of a repository. The path is absolute, without
/// links.
std::optional<Worktree> worktree_of(const std::filesystem::path& path);

}  // namespace leasehold
