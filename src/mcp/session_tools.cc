// Tools for sessions: overview, session_open, session_update, session_close.
#include <set>

#include "mcp/tool.h"

namespace leasehold::mcp {
namespace {

struct OverviewOf {
  std::string codebase{};
};

Described describe(Type<OverviewOf>) {
  static constexpr auto fields = fields_of<OverviewOf>({field<&OverviewOf::codebase>("codebase").as_text()});
  static const OverviewOf fresh;
  return {"OverviewOf", fields, &fresh};
}

struct MySession {
  std::string session{};
  std::string label{};
  std::vector<std::string> items{};
};

Described describe(Type<MySession>) {
  static constexpr auto fields = fields_of<MySession>({
      field<&MySession::session>("session"),
      field<&MySession::label>("label"),
      field<&MySession::items>("items"),
  });
  return {"MySession", fields};
}

struct OtherSession {
  SessionInfo info{};
  std::vector<std::string> items{};
};

Described describe(Type<OtherSession>) {
  static constexpr auto fields = fields_of<OtherSession>({
      field<&OtherSession::info, &SessionInfo::id>("id"),
      field<&OtherSession::info, &SessionInfo::label>("label"),
      field<&OtherSession::info, &SessionInfo::state>("state"),
      field<&OtherSession::info, &SessionInfo::holder, &Holder::name>("name"),
      field<&OtherSession::info, &SessionInfo::codebase>("codebase"),
      field<&OtherSession::info, &SessionInfo::progress>("progress").or_null(),
      field<[](const OtherSession& other) { return other.info.heartbeat_age(); }>("heartbeat_age_seconds"),
      field<&OtherSession::items>("items"),
  });
  return {"OtherSession", fields};
}

struct OpenItem {
  std::string key{};
  std::string title{};
};

Described describe(Type<OpenItem>) {
  static constexpr auto fields = fields_of<OpenItem>({field<&OpenItem::key>("key"), field<&OpenItem::title>("title")});
  return {"OpenItem", fields};
}

struct Overview {
  std::vector<MySession> mine{};
  std::vector<OtherSession> others{};
  std::vector<OpenItem> open{};
};

Described describe(Type<Overview>) {
  static constexpr auto fields = fields_of<Overview>({
      field<&Overview::mine>("mine"),
      field<&Overview::others>("others"),
      field<&Overview::open>("open"),
  });
  return {"Overview", fields};
}

Result<std::vector<std::string>> items_of(const Store& store, const std::string& session) {
  const auto claims = store.claims().list({.session = session, .max = defaults::tool_list_max});
  if (!claims) return claims.error();
  std::vector<std::string> items;
  for (const auto& claim : *claims) items.push_back(claim.key);
  return items;
}

/// The live sessions of the agent's process. One that --watch-pid names need not be above this server: then only those
/// that this server keeps are known to be the agent's.
Result<std::vector<OwnSession>> own_sessions(Desk& desk, const Store& store) {
  const auto& agent = desk.agent();
  if (agent.pid == 0) return std::vector<OwnSession>();
  auto own = store.sessions().mine(ProcessId{.pid = agent.pid, .start = agent.process_start});
  if (!own && own.error().code == Errc::invalid_argument) return std::vector<OwnSession>();
  return own;
}

Result<void> add_sessions(Desk& desk, const Store& store, const OverviewOf& given, Overview& overview) {
  const auto own = own_sessions(desk, store);
  if (!own) return own.error();
  std::set<std::string> seen;
  const auto add_own = [&](const SessionHandle& handle, const std::string& label) -> Result<void> {
    auto items = items_of(store, handle.id);
    if (!items) return std::move(items).error();
    overview.mine.push_back({handle.text(), label, std::move(*items)});
    seen.insert(handle.id);
    return {};
  };
  for (const auto& [handle, session] : *own) {
    if (auto added = add_own({session.id, session.token}, session.label); !added) return added;
  }
  const auto sessions = store.sessions().list({.codebase = given.codebase, .max = defaults::tool_list_max});
  if (!sessions) return sessions.error();
  for (const auto& session : *sessions) {
    if (seen.contains(session.id)) continue;
    if (const SessionHandle handle{session.id, session.token}; desk.keeper().keeps_session(handle)) {
      if (auto added = add_own(handle, session.label); !added) return added;
      continue;
    }
    auto items = items_of(store, session.id);
    if (!items) return std::move(items).error();
    overview.others.push_back({session, std::move(*items)});
  }
  return {};
}

Result<Overview> overview(Desk& desk, const OverviewOf& given, const std::stop_token& /*stop*/) {
  const auto store = desk.store();
  if (!store) return store.error();
  Overview seen;
  if (auto added = add_sessions(desk, *store, given, seen); !added) return std::move(added).error();
  const auto open = store->items().list({.state = ItemState::open, .max = defaults::tool_list_max});
  if (!open) return open.error();
  for (const auto& item : *open) seen.open.push_back({item.key, item.title});
  return seen;
}

struct OpenSession {
  std::string label{};
  std::string codebase{};
  bool exclusive = false;
};

Described describe(Type<OpenSession>) {
  static constexpr auto fields = fields_of<OpenSession>({
      field<&OpenSession::label>("label").as_text().needed().means("what you are doing, for people"),
      field<&OpenSession::codebase>("codebase").as_text(),
      field<&OpenSession::exclusive>("exclusive").means("at most one item at a time"),
  });
  static const OpenSession fresh;
  return {"OpenSession", fields, &fresh};
}

struct UpdateSession {
  std::string session{};
  std::optional<std::string> progress{};
  std::optional<Duration> park{};
};

Described describe(Type<UpdateSession>) {
  static constexpr auto fields = fields_of<UpdateSession>({
      field<&UpdateSession::session>("session").needed(),
      field<&UpdateSession::progress>("progress").as_text(),
      field<&UpdateSession::park>("park_seconds")
          .from(Duration(0), bounds::max_park)
          .means("you will be silent for this long"),
  });
  static const UpdateSession fresh;
  return {"UpdateSession", fields, &fresh};
}

struct CloseSession {
  std::string session{};
  std::string reason{};
};

Described describe(Type<CloseSession>) {
  static constexpr auto fields = fields_of<CloseSession>({
      field<&CloseSession::session>("session").needed(),
      field<&CloseSession::reason>("reason").as_text(),
  });
  static const CloseSession fresh;
  return {"CloseSession", fields, &fresh};
}

/// A session, and when it goes stale without heartbeats.
struct SessionNow {
  std::string session{};
  Timestamp until{};
};

Described describe(Type<SessionNow>) {
  static constexpr auto fields =
      fields_of<SessionNow>({field<&SessionNow::session>("session"), field<&SessionNow::until>("until")});
  return {"SessionNow", fields};
}

Result<SessionNow> session_open(Desk& desk, const OpenSession& given, const std::stop_token& /*stop*/) {
  const auto store = desk.store();
  if (!store) return store.error();
  const auto grant = store->sessions().open({.ttl = desk.ttl_without_keeper().value_or(defaults::session_ttl),
                                             .label = given.label,
                                             .codebase = given.codebase,
                                             .exclusive = given.exclusive},
                                            {.holder = desk.agent()});
  if (!grant) return grant.error();
  const SessionHandle handle{grant->key, grant->token};
  if (auto kept = desk.keeper().keep_session(*store, handle, {}, given.label); !kept) return std::move(kept).error();
  return SessionNow{handle.text(), grant->expires_at};
}

Result<SessionNow> session_update(Desk& desk, const UpdateSession& given, const std::stop_token& /*stop*/) {
  const auto store = desk.store();
  if (!store) return store.error();
  const auto handle = handle_from(given.session);
  if (!handle) return handle.error();
  auto grant = desk.keeper().keep_session(*store, *handle, given.progress, "session_update");
  if (grant && given.park) grant = store->sessions().park(handle->id, handle->token, *given.park);
  if (!grant) return session_over(std::move(grant).error());
  return SessionNow{given.session, grant->expires_at};
}

Result<SessionClosed> session_close(Desk& desk, const CloseSession& given, const std::stop_token& /*stop*/) {
  const auto store = desk.store();
  if (!store) return store.error();
  const auto handle = handle_from(given.session);
  if (!handle) return handle.error();
  desk.keeper().end_session(handle->id);
  return store->sessions().close(handle->id, handle->token, given.reason);
}

}  // namespace

std::span<const Tool> session_tools() {
  static constexpr Tool tools[] = {
      tool<overview>({
          .name = "overview",
          .help =
              "Show who works on what, and what is open. `mine` lists your own live sessions with their handles: look "
              "here if you lost yours.",
          .reads = true,
          .idempotent = true,
      }),
      tool<session_open>({
          .name = "session_open",
          .help = "Register yourself. Pass the returned `session` to the other tools. Sub-agents open their own.",
      }),
      tool<session_update>({
          .name = "session_update",
          .help = "Report progress, or announce silence.",
          .idempotent = true,
      }),
      tool<session_close>({
          .name = "session_close",
          .help = "Close your session. Its items and paths become free.",
          .idempotent = true,
      }),
  };
  return tools;
}

}  // namespace leasehold::mcp
