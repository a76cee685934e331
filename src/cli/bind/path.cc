// leasehold path take, release, ls: files and folders that sessions hold.
#include <memory>

#include "act/confirmations.h"
#include "base/time_text.h"
#include "cli/bind/session_options.h"
#include "cli/command.h"
#include "cli/print/list.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/session_text.h"
#include "cli/print/table.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

struct PathCommand {
  std::vector<std::string> paths;
  NamedSession session;
  PathOptions where;
  bool every = false;
  int held_code = exit_code::held;
};

void add_path_options(CLI::App& command, Context& context, PathCommand& options) {
  add_claiming_session(command, context, options.session);
  command.add_flag("--repo-wide", options.where.repo_wide,
                   "The same path in every worktree of the repository (default: only in this worktree)");
}

int take(const Context& context, const PathCommand& options) {
  const auto proof = options.session.needed_proof();
  if (!proof) return report(context, proof.error());
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto taken = store->claims().take_paths(options.session.id, *proof, options.paths, options.where);
  if (!taken) return report_refusal(context, taken.error(), options.held_code);
  if (context.json) {
    print_line(model::to_json(*taken));
  } else {
    for (const auto& path : taken->paths)
      print("claimed {}  by session {}", printable(path), printable(taken->session));
  }
  return exit_code::ok;
}

}  // namespace

void add_path_take(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "take",
      "Claim files and folders for a session, all or none: a folder excludes all that is in it, a file the folders "
      "above it (exit code 75: another session has one in the way)",
      {"leasehold path take src/parser docs/parser.md    # under `session run`, or after `session open --export`",
       "leasehold path take --repo-wide --session \"$handle\" CHANGELOG.md"});
  auto options = std::make_shared<PathCommand>();
  command->add_option("PATH", options->paths, fmt::format("Files and folders, up to {}", bounds::max_paths))
      ->required()
      ->type_name("");
  add_path_options(*command, context, *options);
  add_conflict_exit_code(*command, options->held_code);
  set_action(*command, context, [&context, options] { return take(context, *options); });
}

namespace {

int release(const Context& context, const PathCommand& options) {
  if (options.every != options.paths.empty()) {
    return report(context, {.code = Errc::invalid_argument, .message = "name the paths to release, or write --all"});
  }
  const auto proof = options.session.needed_proof();
  if (!proof) return report(context, proof.error());
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto released = store->claims().release_paths(options.session.id, *proof, options.paths, options.where);
  if (!released) return report_refusal(context, released.error());
  if (context.json) {
    print_line(model::to_json(act::PathsReleased{options.session.id, *released}));
  } else {
    print("released {} {}", *released, *released == 1 ? "path" : "paths");
  }
  return exit_code::ok;
}

}  // namespace

void add_path_release(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "release", "Release files and folders of a session; what it does not have is no error",
      {"leasehold path release src/parser", "leasehold path release --all --session \"$handle\""});
  auto options = std::make_shared<PathCommand>();
  command->add_option("PATH", options->paths, "Files and folders, as they were taken")->type_name("");
  command->add_flag("--all", options->every, "All paths of the session");
  add_path_options(*command, context, *options);
  set_action(*command, context, [&context, options] { return release(context, *options); });
}

namespace {

struct PathLsOptions {
  PathFilter filter;
  bool watch = false;
};

std::vector<std::string> table_of(const std::vector<PathInfo>& paths) {
  Table table({{"PATH", Column::may_be_cut},
               {"SESSION", Column::may_be_cut, 3},
               {"LABEL", Column::may_be_cut, 1},
               {"HOST", Column::may_be_cut},
               "CLAIMED",
               {"FREES", Column::as_it_is, 1}});
  for (const auto& path : paths) {
    table.add({printable(path.path), printable(path.session), on_one_line(path.held_by.label), printable(path.host),
               format_age(path.store_now - path.taken_at), shown_end_of(path.held_by)});
  }
  return table.lines();
}

Result<ListPicture> look_at(const Store& store, const PathFilter& filter) {
  const auto paths = store.claims().list_paths(filter);
  if (!paths) return paths.error();
  return picture_of(
      *paths, table_of(paths->items),
      [](const PathInfo& path) { return path.host + ":" + path.repository + path.path; },
      [](const PathInfo& path) { return fmt::format("session {}", printable(path.session)); });
}

int list_paths(const Context& context, PathLsOptions& options) {
  if (const auto handle = SessionHandle::parse(options.filter.session)) options.filter.session = handle->id;
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  return show_list(context, *store,
                   {.what = "paths", .watch = options.watch, .look = [&] { return look_at(*store, options.filter); }});
}

}  // namespace

void add_path_ls(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "ls", "List claimed files and folders, and their sessions",
                              {"leasehold path ls", "leasehold path ls --session s-81f --json"});
  auto options = std::make_shared<PathLsOptions>();
  command->add_option("--session", options->filter.session, "Only paths of this session")
      ->check(not_empty)
      ->type_name("ID");
  add_paging(*command, options->filter.max, options->filter.page);
  add_watch(*command, options->watch);
  set_action(*command, context, [&context, options] { return list_paths(context, *options); });
}

}  // namespace leasehold::cli
