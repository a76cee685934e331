// Acts on sessions.
#include "act/act.h"
#include "act/answers.h"
#include "act/arguments.h"

namespace leasehold::act {
namespace {

struct SessionOpen {
  std::string holder{};
  SessionOptions options{};
};

Described describe(Type<SessionOpen>) {
  static constexpr auto fields = fields_of<SessionOpen>({
      inlined<&SessionOpen::options>(),
      field<&SessionOpen::holder>("holder").as_name().or_null().means("the name that other callers see"),
  });
  static const SessionOpen fresh;
  return {"SessionOpen", fields, &fresh};
}

struct SessionHeld {
  std::string id{};
  Token token{};
};

Described describe(Type<SessionHeld>) {
  static constexpr auto fields = fields_of<SessionHeld>({
      field<&SessionHeld::id>("id").as_name().needed().means("the session's id"),
      field<&SessionHeld::token>("token").needed(),
  });
  static const SessionHeld fresh;
  return {"SessionHeld", fields, &fresh};
}

struct SessionBeat {
  SessionHeld session{};
  SessionHeartbeat beat{};
};

Described describe(Type<SessionBeat>) {
  static constexpr auto fields = fields_of<SessionBeat>({
      inlined<&SessionBeat::session>(),
      inlined<&SessionBeat::beat>(),
  });
  static const SessionBeat fresh;
  return {"SessionBeat", fields, &fresh};
}

struct SessionPark {
  SessionHeld session{};
  Duration silence{};
};

Described describe(Type<SessionPark>) {
  static constexpr auto fields = fields_of<SessionPark>({
      inlined<&SessionPark::session>(),
      field<&SessionPark::silence>("silence_seconds")
          .from(Duration(0), bounds::max_park)
          .needed()
          .means("how long the session will be silent; 0 ends it"),
  });
  static const SessionPark fresh;
  return {"SessionPark", fields, &fresh};
}

struct SessionClose {
  SessionHeld session{};
  std::string reason{};
};

Described describe(Type<SessionClose>) {
  static constexpr auto fields = fields_of<SessionClose>({
      inlined<&SessionClose::session>(),
      field<&SessionClose::reason>("reason").as_text(),
  });
  static const SessionClose fresh;
  return {"SessionClose", fields, &fresh};
}

struct SessionRevoke {
  std::string id{};
  std::string reason{};
};

Described describe(Type<SessionRevoke>) {
  static constexpr auto fields = fields_of<SessionRevoke>({
      field<&SessionRevoke::id>("id").as_name().needed().means("the session's id"),
      field<&SessionRevoke::reason>("reason").as_text().needed(),
  });
  static const SessionRevoke fresh;
  return {"SessionRevoke", fields, &fresh};
}

struct SessionShow {
  std::string id{};
};

Described describe(Type<SessionShow>) {
  static constexpr auto fields =
      fields_of<SessionShow>({field<&SessionShow::id>("id").as_name().needed().means("the session's id")});
  static const SessionShow fresh;
  return {"SessionShow", fields, &fresh};
}

Result<SessionGrant> shown(Result<Grant> grant) {
  if (!grant) return std::move(grant).error();
  return SessionGrant{std::move(*grant)};
}

Result<SessionGrant> session_open(const Store& store, const SessionOpen& given, const Call& call) {
  return shown(store.sessions().open(given.options, as_holder(call, given.holder)));
}

Result<SessionGrant> session_heartbeat(const Store& store, const SessionBeat& given, const Call& /*call*/) {
  return shown(store.sessions().heartbeat(given.session.id, given.session.token, given.beat));
}

Result<SessionGrant> session_park(const Store& store, const SessionPark& given, const Call& /*call*/) {
  return shown(store.sessions().park(given.session.id, given.session.token, given.silence));
}

Result<SessionClosed> session_close(const Store& store, const SessionClose& given, const Call& /*call*/) {
  return store.sessions().close(given.session.id, given.session.token, given.reason);
}

Result<SessionClosed> session_revoke(const Store& store, const SessionRevoke& given, const Call& /*call*/) {
  return store.sessions().revoke(given.id, given.reason);
}

Result<SessionInfo> session_show(const Store& store, const SessionShow& given, const Call& /*call*/) {
  return store.sessions().show(given.id);
}

Result<Page<SessionInfo>> session_list(const Store& store, const SessionFilter& given, const Call& /*call*/) {
  return store.sessions().list(given);
}

Result<Page<OwnSession>> session_mine(const Store& store, const Nothing& /*given*/, const Call& /*call*/) {
  auto own = store.sessions().mine();
  if (!own) return std::move(own).error();
  return Page<OwnSession>{.items = std::move(*own)};
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table.
std::span<const Act> session_acts() {
  static constexpr Act acts[] = {
      act<session_open>({
          .name = "session.open",
          .help = "Open a session",
          .scope = Scope::work,
          .sql = "session_open",
          .refusals = refusals<Errc::held, Errc::lost>,
          .example = R"({"id":"agent-1","label":"fixing the parser"})",
      }),
      act<session_heartbeat>({
          .name = "session.heartbeat",
          .help = "Extend a live session, and report its progress",
          .scope = Scope::work,
          .sql = "session_heartbeat",
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found, Errc::busy>,
          .example = R"({"id":"agent-1","token":1763200000000000,"progress":"tests are green"})",
      }),
      act<session_park>({
          .name = "session.park",
          .help = "Announce silence: the session does not go stale before it is over",
          .scope = Scope::work,
          .sql = "session_heartbeat",
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found, Errc::busy>,
          .example = R"({"id":"agent-1","token":1763200000000000,"silence_seconds":3600})",
      }),
      act<session_show>({
          .name = "session.show",
          .help = "Show a session",
          .idempotent = true,
          .refusals = refusals<Errc::not_found>,
          .example = R"({"id":"agent-1"})",
      }),
      act<session_list>({
          .name = "session.list",
          .help = "List sessions; the longest silent come last",
          .idempotent = true,
          .example = R"({"max":20})",
      }),
      act<session_mine>({
          .name = "session.mine",
          .help = "List the live sessions of the caller's own process, with the handles that prove them",
          .scope = Scope::work,
          .idempotent = true,
          .local = true,
          .example = "{}",
      }),
      act<session_close>({
          .name = "session.close",
          .help = "Close a session and release its items",
          .scope = Scope::work,
          .sql = "session_close",
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found, Errc::busy>,
          .example = R"({"id":"agent-1","token":1763200000000000,"reason":"done for today"})",
      }),
      act<session_revoke>({
          .name = "session.revoke",
          .help = "Close a session, as an operator",
          .scope = Scope::admin,
          .sql = "session_revoke",
          .refusals = refusals<Errc::not_found, Errc::busy, Errc::lost>,
          .example = R"({"id":"agent-1","reason":"its machine is gone"})",
      }),
  };
  return acts;
}

}  // namespace leasehold::act
