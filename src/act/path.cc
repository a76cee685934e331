// Acts on the files and folders that sessions hold.
#include "act/act.h"
#include "act/arguments.h"
#include "act/confirmations.h"

namespace leasehold::act {
namespace {

/// Paths of a session, and the session's proof.
struct SessionPaths {
  std::string session{};
  Token session_token{};
  std::string directory{};
  bool repo_wide = false;

  [[nodiscard]] PathOptions where() const { return {.directory = directory, .repo_wide = repo_wide}; }
};

Described describe(Type<SessionPaths>) {
  static constexpr auto fields = fields_of<SessionPaths>({
      field<&SessionPaths::session>("session").as_name().needed().means("the id of the session"),
      field<&SessionPaths::session_token>("session_token").needed(),
      field<&SessionPaths::directory>("directory")
          .or_null()
          .as_text()
          .means("relative paths begin here; null: the folder of this process"),
      field<&SessionPaths::repo_wide>("repo_wide")
          .means("the same path in another worktree of the repository is the same path"),
  });
  static const SessionPaths fresh;
  return {"SessionPaths", fields, &fresh};
}

struct PathTake {
  SessionPaths of{};
  std::vector<std::string> paths{};
};

Described describe(Type<PathTake>) {
  static constexpr auto fields = fields_of<PathTake>({
      inlined<&PathTake::of>(),
      field<&PathTake::paths>("paths").as_text().up_to(bounds::max_paths).needed().means("files and folders"),
  });
  static const PathTake fresh;
  return {"PathTake", fields, &fresh};
}

struct PathRelease {
  SessionPaths of{};
  std::optional<std::vector<std::string>> paths{};
};

Described describe(Type<PathRelease>) {
  static constexpr auto fields = fields_of<PathRelease>({
      inlined<&PathRelease::of>(),
      field<&PathRelease::paths>("paths").as_text().up_to(bounds::max_paths).means("null: all paths of the session"),
  });
  static const PathRelease fresh;
  return {"PathRelease", fields, &fresh};
}

Result<PathsTaken> path_take(const Store& store, const PathTake& given, const Call& call) {
  return store.claims().take_paths(given.of.session, given.of.session_token, given.paths, given.of.where(), call);
}

Result<PathsReleased> path_release(const Store& store, const PathRelease& given, const Call& /*call*/) {
  // An empty list is a mistake: the library would release all paths.
  if (given.paths && given.paths->empty()) {
    return Error{.code = Errc::invalid_argument, .message = "paths is empty: leave it out to release all of them"};
  }
  auto released = store.claims().release_paths(given.of.session, given.of.session_token,
                                               given.paths.value_or(std::vector<std::string>()), given.of.where());
  if (!released) return std::move(released).error();
  return PathsReleased{given.of.session, *released};
}

Result<Page<PathInfo>> path_list(const Store& store, const PathFilter& given, const Call& /*call*/) {
  return store.claims().list_paths(given);
}

}  // namespace

std::span<const Act> path_acts() {
  static constexpr Act acts[] = {
      act<path_take>({
          .name = "path.take",
          .help = "Take files and folders for a session, all or none",
          .scope = Scope::work,
          .sql = "path_take",
          .idempotent = true,
          .refusals = refusals<Errc::held, Errc::busy, Errc::unregistered>,
          .example = R"({"session":"agent-1","session_token":1763200000000000,"paths":["/srv/app/src"]})",
      }),
      act<path_release>({
          .name = "path.release",
          .help = "Release files and folders of a session",
          .scope = Scope::work,
          .sql = "path_take",
          .idempotent = true,
          .refusals = refusals<Errc::busy, Errc::unregistered>,
          .example = R"({"session":"agent-1","session_token":1763200000000000,"paths":["/srv/app/src"]})",
      }),
      act<path_list>({
          .name = "path.list",
          .help = "List files and folders that sessions hold",
          .idempotent = true,
          .example = R"({"session":"agent-1"})",
      }),
  };
  return acts;
}

}  // namespace leasehold::act
