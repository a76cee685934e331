// Tools for files and folders: paths_take, paths_release.
#include "base/text.h"
#include "mcp/tool.h"

namespace leasehold::mcp {
namespace {

static_assert(bounds::max_paths == 50, "the meaning of `paths` names the bound");

struct TakePaths {
  std::vector<std::string> paths{};
  std::string session{};
};

Described describe(Type<TakePaths>) {
  static constexpr auto fields = fields_of<TakePaths>({
      field<&TakePaths::paths>("paths").as_text().up_to(bounds::max_paths).needed().means("1 to 50"),
      field<&TakePaths::session>("session"),
  });
  static const TakePaths fresh;
  return {"TakePaths", fields, &fresh};
}

/// Files and folders that the session holds now.
struct TakenPaths {
  std::string session{};
  PathsTaken taken{};
};

Described describe(Type<TakenPaths>) {
  static constexpr auto fields = fields_of<TakenPaths>({
      field<&TakenPaths::session>("session"),
      field<&TakenPaths::taken, &PathsTaken::paths>("paths"),
      field<&TakenPaths::taken, &PathsTaken::expires_at>("until"),
  });
  return {"TakenPaths", fields};
}

struct ReleasePaths {
  std::string session{};
  std::optional<std::vector<std::string>> paths{};
};

Described describe(Type<ReleasePaths>) {
  static constexpr auto fields = fields_of<ReleasePaths>({
      field<&ReleasePaths::session>("session").needed(),
      field<&ReleasePaths::paths>("paths").as_text().up_to(bounds::max_paths).means("left out: all of yours"),
  });
  static const ReleasePaths fresh;
  return {"ReleasePaths", fields, &fresh};
}

struct ReleasedPaths {
  std::int64_t released = 0;
};

Described describe(Type<ReleasedPaths>) {
  static constexpr auto fields = fields_of<ReleasedPaths>({field<&ReleasedPaths::released>("released")});
  return {"ReleasedPaths", fields};
}

Result<TakenPaths> paths_take(Desk& desk, const TakePaths& given, const std::stop_token& stop) {
  if (given.paths.empty()) return invalid("paths is empty: name a file or a folder");
  const auto session = desk.session(given.session, "paths_take " + given.paths.front());
  if (!session) return session.error();
  const auto store = desk.store();
  if (!store) return store.error();
  auto taken = store->claims().take_paths(session->id, session->token, given.paths, {}, desk.call(stop));
  if (!taken) return with_session(std::move(taken).error(), *session);
  return TakenPaths{session->text(), std::move(*taken)};
}

Result<ReleasedPaths> paths_release(Desk& desk, const ReleasePaths& given, const std::stop_token& /*stop*/) {
  if (given.session.empty()) return handle_from(given.session).error();
  // An empty list is a mistake: no paths would mean all of them.
  if (given.paths && given.paths->empty()) return invalid("paths is empty: leave it out to release all of yours");
  const auto session = desk.session(given.session, "paths_release");
  if (!session) return session.error();
  const auto store = desk.store();
  if (!store) return store.error();
  auto released =
      store->claims().release_paths(session->id, session->token, given.paths.value_or(std::vector<std::string>()));
  if (!released) return std::move(released).error();
  return ReleasedPaths{*released};
}

}  // namespace

std::span<const Tool> path_tools() {
  static constexpr Tool tools[] = {
      tool<paths_take>({
          .name = "paths_take",
          .help = "Claim files and folders before you edit them, all or none. A folder blocks all that is in it.",
          .idempotent = true,
          .asks = true,
      }),
      tool<paths_release>({
          .name = "paths_release",
          .help = "Release files and folders.",
          .idempotent = true,
      }),
  };
  return tools;
}

}  // namespace leasehold::mcp
