// leasehold init: a folder gets a store of its own, and coding agents find leasehold.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "base/text.h"
#include "base/worktree.h"
#include "cli/agents/agent_files.h"
#include "cli/agents/project.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"

namespace leasehold::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t config_bytes = 1024 * 1024;

struct InitOptions {
  std::string store;
  std::vector<std::string> agents;
  bool remove = false;
  bool dry_run = false;
};

/// Files that change, by their paths below the root: what they are, and what they become.
struct Change {
  std::string before;
  std::string after;
};
using Changes = std::map<std::string, Change>;

Result<std::string> text_of(const fs::path& file) {
  std::error_code failed;
  if (!fs::exists(file, failed)) return std::string();
  return read_bytes(file.string(), config_bytes);
}

Result<void> add_change(Changes& changes, const fs::path& root, const AgentFile& file, bool remove) {
  auto found = changes.find(file.path);
  if (found == changes.end()) {
    auto text = text_of(root / file.path);
    if (!text) return std::move(text).error();
    found = changes.emplace(file.path, Change{*text, *text}).first;
  }
  auto& after = found->second.after;
  auto changed = remove ? without_leasehold(file, after) : with_leasehold(file, after);
  if (!changed) return std::move(changed).error();
  after = std::move(*changed);
  return {};
}

Result<std::vector<Agent>> agents_in(const std::vector<std::string>& words) {
  std::vector<Agent> agents;
  for (const auto& word : words) {
    const auto agent = agent_from(word);
    if (!agent)
      return invalid(fmt::format("--agents: there is no agent {}: {}", leasehold::quoted(word), agent_words()));
    agents.push_back(*agent);
  }
  return agents;
}

Error cannot(std::string_view act, const fs::path& file, const std::string& why) {
  return {.code = Errc::internal, .message = fmt::format("cannot {} {}: {}", act, file.string(), why)};
}

/// Through a file beside it, so that a full disk leaves the old one.
Result<void> replace_file(const fs::path& file, const std::string& text) {
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);
  if (failed) return cannot("create", file.parent_path(), failed.message());
  const fs::path draft = file.string() + ".leasehold-new";
  {
    std::ofstream out(draft, std::ios::binary | std::ios::trunc);
    out << text;
    out.close();
    if (!out) return cannot("write", draft, "the disk may be full, or the folder closed");
  }
  if (fs::exists(file, failed)) fs::permissions(draft, fs::status(file, failed).permissions(), failed);
  fs::rename(draft, file, failed);
  if (failed) return cannot("replace", file, failed.message());
  return {};
}

Result<void> write_change(const fs::path& root, const std::string& path, const Change& change) {
  if (!change.after.empty()) return replace_file(root / path, change.after);
  std::error_code failed;
  fs::remove(root / path, failed);
  if (failed) return cannot("remove", root / path, failed.message());
  // Its folder, if it was the last file there.
  const auto folder = (root / path).parent_path();
  if (folder != root) fs::remove(folder, failed);
  return {};
}

/// Shows every change before the first file is written.
int carry_out(const Context& context, const fs::path& root, const Changes& changes, bool dry_run) {
  bool any = false;
  for (const auto& [path, change] : changes) {
    const auto diff = text_diff(path, change.before, change.after);
    any = any || !diff.empty();
    for (auto rest = std::string_view(diff); !rest.empty();) {
      const auto line = first_line(rest);
      say("{}", printable(line));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
  }
  if (!any) {
    print("nothing to change");
    return exit_code::ok;
  }
  for (const auto& [path, change] : changes) {
    if (change.before == change.after) continue;
    if (!dry_run) {
      if (auto written = write_change(root, path, change); !written) return report(context, written.error());
    }
    print("{} {}", dry_run ? "would write" : change.after.empty() ? "removed" : "wrote", path);
  }
  return exit_code::ok;
}

Result<Changes> changes_for(const fs::path& root, bool in_git, const InitOptions& options) {
  Changes changes;
  auto agents = agents_in(options.agents);
  if (!agents) return std::move(agents).error();
  auto text = text_of(root / project_file_name);
  if (!text) return std::move(text).error();
  const auto store = !options.store.empty() ? options.store
                     : in_git               ? "sqlite:{git}/leasehold.db"
                                            : "sqlite:{here}/.leasehold.db";
  auto& project = changes[std::string(project_file_name)];
  project = {*text, *text};
  if (options.remove && options.agents.empty()) project.after.clear();
  if (!options.remove && (text->empty() || !options.store.empty())) project.after = project_text(store);
  for (const auto agent : *agents) {
    for (const auto& file : files_of(agent)) {
      if (auto added = add_change(changes, root, file, options.remove); !added) return std::move(added).error();
    }
  }
  return changes;
}

int init(const Context& context, const InitOptions& options) {
  std::error_code failed;
  const auto here = fs::current_path(failed);
  if (failed) return report(context, cannot("find", ".", failed.message()));
  const auto worktree = worktree_of(here);
  const auto root = worktree ? worktree->root : here;
  auto changes = changes_for(root, worktree.has_value(), options);
  if (!changes) return report(context, changes.error());
  const auto code = carry_out(context, root, *changes, options.dry_run);
  if (code != exit_code::ok || options.dry_run || options.remove) return code;
  auto project = find_project(root);
  if (!project) return report(context, project.error());
  if (!*project) return exit_code::ok;
  Context in_project = context;
  in_project.db = (*project)->store;
  auto store = in_project.open_or_make_store();
  if (!store) return report(context, store.error());
  print("the store is {}", shown_url((*project)->store));
  return exit_code::ok;
}

}  // namespace

void add_init(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "init", "Give this repository a store, and tell coding agents of it",
      {"leasehold init", "leasehold init --agents claude,codex", "leasehold init --agents claude --remove"});
  refuse_db(*command, context, "init writes the store into .leasehold.toml: name it with --store URL");
  auto options = std::make_shared<InitOptions>();
  auto* store = command->add_option(
      "--store", options->store,
      "The store to write into .leasehold.toml (default: a SQLite file in the git folder that all worktrees share)");
  store->check(not_empty)->type_name("URL");
  command->add_option("--agents", options->agents, "Write the files of these agents, too: " + agent_words())
      ->delimiter(',')
      ->type_name("LIST");
  command
      ->add_flag("--remove", options->remove,
                 "Take leasehold out of the files of --agents; without --agents, remove .leasehold.toml")
      ->excludes(store);
  command->add_flag("--dry-run", options->dry_run, "Only show the difference");
  set_action(*command, context, [&context, options] { return init(context, *options); });
}

}  // namespace leasehold::cli
