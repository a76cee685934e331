// .leasehold.toml: which store a folder and all below it use. `leasehold init` writes it.
//
//   store = "sqlite:{git}/leasehold.db"     {git}: the git folder that all worktrees share; {here}: the file's folder
//   guard = "deny"                          before an agent edits what another session holds: deny, warn, claim
//
// --db and LEASEHOLD_DB come before the file. A command outside of such a folder uses the store in the state folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "leasehold/result.h"

namespace leasehold::cli {

inline constexpr std::string_view project_file_name = ".leasehold.toml";

/// What `leasehold hook` does before an agent edits a file.
enum class EditGuard {
  deny,   ///< refuses if another live session holds the file or a folder above it
  warn,   ///< allows it, and tells the agent
  claim,  ///< takes the file for the agent's session, or refuses
};

struct Project {
  std::filesystem::path file;
  std::string store;  ///< a URL without placeholders
  EditGuard guard = EditGuard::deny;
};

/// The nearest file in this folder or above it; nothing if there is none. An error names file and line. A file of
/// another user is refused: it could send leases, and what they protect, to a store of that user.
Result<std::optional<Project>> find_project(const std::filesystem::path& folder);

/// The text of a new file.
std::string project_text(std::string_view store);

}  // namespace leasehold::cli
