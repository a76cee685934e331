// Acts on the claims of sessions on items.
#include "act/act.h"
#include "act/arguments.h"
#include "act/confirmations.h"

namespace leasehold::act {
namespace {

struct ClaimTake {
  std::string key{};
  std::string session{};
  Token session_token{};
  bool create = false;
  Duration wait{0};
};

Described describe(Type<ClaimTake>) {
  static constexpr auto fields = fields_of<ClaimTake>({
      field<&ClaimTake::key>("key").as_name().needed().means("the item's key"),
      field<&ClaimTake::session>("session").as_name().needed().means("the id of the session that takes it"),
      field<&ClaimTake::session_token>("session_token").needed(),
      field<&ClaimTake::create>("create"),
      field<&ClaimTake::wait>("wait_seconds").from(Duration(0), Duration::max()),
  });
  static const ClaimTake fresh;
  return {"ClaimTake", fields, &fresh};
}

struct ClaimNext {
  std::string session{};
  Token session_token{};
  std::string parent{};
  Duration wait{0};
  std::string request_id{};
};

Described describe(Type<ClaimNext>) {
  static constexpr auto fields = fields_of<ClaimNext>({
      field<&ClaimNext::session>("session").as_name().needed().means("the id of the session that takes it"),
      field<&ClaimNext::session_token>("session_token").needed(),
      field<&ClaimNext::parent>("parent").as_name().or_null().means("only children of this item"),
      field<&ClaimNext::wait>("wait_seconds").from(Duration(0), Duration::max()),
      field<&ClaimNext::request_id>("request_id").or_null().as_name(),
  });
  static const ClaimNext fresh;
  return {"ClaimNext", fields, &fresh};
}

struct ClaimRelease {
  std::string key{};
  std::string session{};
  Token token{};
  std::string reason{};
};

Described describe(Type<ClaimRelease>) {
  static constexpr auto fields = fields_of<ClaimRelease>({
      field<&ClaimRelease::key>("key").as_name().needed().means("the item's key"),
      field<&ClaimRelease::session>("session").as_name().needed(),
      field<&ClaimRelease::token>("token").needed(),
      field<&ClaimRelease::reason>("reason").as_text(),
  });
  static const ClaimRelease fresh;
  return {"ClaimRelease", fields, &fresh};
}

struct ClaimSwitch {
  std::string from{};
  Token token{};
  std::string to{};
  bool create = false;
  Duration wait{0};
};

Described describe(Type<ClaimSwitch>) {
  static constexpr auto fields = fields_of<ClaimSwitch>({
      field<&ClaimSwitch::from>("from").as_name().needed().means("the item that the session holds"),
      field<&ClaimSwitch::token>("token").needed(),
      field<&ClaimSwitch::to>("to").as_name().needed().means("the item that it takes instead"),
      field<&ClaimSwitch::create>("create"),
      field<&ClaimSwitch::wait>("wait_seconds").from(Duration(0), Duration::max()),
  });
  static const ClaimSwitch fresh;
  return {"ClaimSwitch", fields, &fresh};
}

struct ClaimByKey {
  std::string key{};
};

Described describe(Type<ClaimByKey>) {
  static constexpr auto fields =
      fields_of<ClaimByKey>({field<&ClaimByKey::key>("key").as_name().needed().means("the item's key")});
  static const ClaimByKey fresh;
  return {"ClaimByKey", fields, &fresh};
}

Result<Claim> claim_take(const Store& store, const ClaimTake& given, const Call& call) {
  return store.claims().take(given.key, given.session,
                             {.session_token = given.session_token, .create = given.create, .wait = given.wait}, call);
}

Result<Claim> claim_next(const Store& store, const ClaimNext& given, const Call& call) {
  const ClaimNextOptions options{
      .session_token = given.session_token, .parent = given.parent, .wait = given.wait, .request_id = given.request_id};
  return store.claims().next(given.session, options, call);
}

Result<ClaimReleased> claim_release(const Store& store, const ClaimRelease& given, const Call& /*call*/) {
  auto released = store.claims().release(given.key, given.session, given.token, given.reason);
  if (!released) return std::move(released).error();
  return ClaimReleased{given.key, given.token};
}

Result<Claim> claim_switch(const Store& store, const ClaimSwitch& given, const Call& call) {
  return store.claims().switch_to(given.from, given.token, given.to, {.create = given.create, .wait = given.wait},
                                  call);
}

Result<ClaimInfo> claim_show(const Store& store, const ClaimByKey& given, const Call& /*call*/) {
  return store.claims().show(given.key);
}

Result<Page<ClaimInfo>> claim_list(const Store& store, const ClaimFilter& given, const Call& /*call*/) {
  return store.claims().list(given);
}

}  // namespace

std::span<const Act> claim_acts() {
  static constexpr Act acts[] = {
      act<claim_take>({
          .name = "claim.take",
          .help = "Take an item for a session",
          .scope = Scope::work,
          .sql = "claim_take",
          .idempotent = true,
          .waits = true,
          .refusals = refusals<Errc::held, Errc::race, Errc::blocked, Errc::not_found, Errc::terminal,
                               Errc::unregistered, Errc::at_capacity, Errc::lost, Errc::busy>,
          .example = R"({"key":"SD-1","session":"agent-1","session_token":1763200000000000,"create":true})",
      }),
      act<claim_next>({
          .name = "claim.next",
          .help = "Take the first open item, of the highest priority, then the oldest",
          .scope = Scope::work,
          .sql = "claim_take",
          .waits = true,
          .refusals = refusals<Errc::empty, Errc::held, Errc::blocked, Errc::unregistered, Errc::at_capacity,
                               Errc::not_found, Errc::busy>,
          .example = R"({"session":"agent-1","session_token":1763200000000000})",
      }),
      act<claim_show>({
          .name = "claim.show",
          .help = "Show the latest claim of an item",
          .idempotent = true,
          .refusals = refusals<Errc::not_found>,
          .example = R"({"key":"SD-1"})",
      }),
      act<claim_list>({
          .name = "claim.list",
          .help = "List claims",
          .idempotent = true,
          .example = R"({"session":"agent-1"})",
      }),
      act<claim_switch>({
          .name = "claim.switch",
          .help = "Release one item and take another, in one step",
          .scope = Scope::work,
          .sql = "claim_switch",
          .waits = true,
          .refusals = refusals<Errc::held, Errc::race, Errc::blocked, Errc::not_found, Errc::terminal,
                               Errc::unregistered, Errc::at_capacity, Errc::lost, Errc::busy>,
          .example = R"({"from":"SD-1","token":1763200000000000,"to":"SD-2","create":true})",
      }),
      act<claim_release>({
          .name = "claim.release",
          .help = "Release an item",
          .scope = Scope::work,
          .sql = "claim_release",
          .idempotent = true,
          .refusals = refusals<Errc::lost, Errc::not_found, Errc::busy, Errc::unregistered>,
          .example = R"({"key":"SD-1","session":"agent-1","token":1763200000000000,"reason":"blocked by SD-2"})",
      }),
  };
  return acts;
}

}  // namespace leasehold::act
