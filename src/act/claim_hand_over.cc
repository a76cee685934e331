// Acts that give the item of one session to another, or take it away.
#include "act/act.h"
#include "act/arguments.h"

namespace leasehold::act {
namespace {

struct ClaimAssign {
  std::string key{};
  std::string to_session{};
  std::string reason{};
};

Described describe(Type<ClaimAssign>) {
  static constexpr auto fields = fields_of<ClaimAssign>({
      field<&ClaimAssign::key>("key").as_name().needed().means("the item's key"),
      field<&ClaimAssign::to_session>("to_session").as_name().needed().means("the id of the session that gets it"),
      field<&ClaimAssign::reason>("reason").as_text(),
  });
  static const ClaimAssign fresh;
  return {"ClaimAssign", fields, &fresh};
}

struct ClaimTransfer {
  ClaimAssign assign{};
  Token token{};
};

Described describe(Type<ClaimTransfer>) {
  static constexpr auto fields = fields_of<ClaimTransfer>({
      inlined<&ClaimTransfer::assign>(),
      field<&ClaimTransfer::token>("token").needed(),
  });
  static const ClaimTransfer fresh;
  return {"ClaimTransfer", fields, &fresh};
}

struct ClaimRevoke {
  std::string key{};
  std::string reason{};
};

Described describe(Type<ClaimRevoke>) {
  static constexpr auto fields = fields_of<ClaimRevoke>({
      field<&ClaimRevoke::key>("key").as_name().needed().means("the item's key"),
      field<&ClaimRevoke::reason>("reason").as_text().needed(),
  });
  static const ClaimRevoke fresh;
  return {"ClaimRevoke", fields, &fresh};
}

Result<Claim> claim_transfer(const Store& store, const ClaimTransfer& given, const Call& /*call*/) {
  const auto& [key, to_session, reason] = given.assign;
  return store.claims().transfer(key, to_session, given.token, reason);
}

Result<Claim> claim_assign(const Store& store, const ClaimAssign& given, const Call& /*call*/) {
  return store.claims().transfer(given.key, given.to_session, {}, given.reason);
}

Result<ClaimInfo> claim_revoke(const Store& store, const ClaimRevoke& given, const Call& /*call*/) {
  return store.claims().revoke(given.key, given.reason);
}

}  // namespace

std::span<const Act> claim_hand_over_acts() {
  static constexpr Act acts[] = {
      act<claim_transfer>({
          .name = "claim.transfer",
          .help = "Hand an item over to another live session",
          .scope = Scope::work,
          .sql = "claim_transfer",
          .refusals = refusals<Errc::held, Errc::race, Errc::blocked, Errc::not_found, Errc::terminal,
                               Errc::unregistered, Errc::at_capacity, Errc::lost, Errc::busy>,
          .example = R"({"key":"SD-1","token":1763200000000000,"to_session":"agent-2"})",
      }),
      act<claim_assign>({
          .name = "claim.assign",
          .help = "Give an item to a live session, as an operator",
          .scope = Scope::admin,
          .sql = "claim_assign",
          .refusals = refusals<Errc::held, Errc::race, Errc::blocked, Errc::not_found, Errc::terminal,
                               Errc::unregistered, Errc::at_capacity, Errc::lost, Errc::busy>,
          .example = R"({"key":"SD-1","to_session":"agent-2","reason":"agent-1 is stuck"})",
      }),
      act<claim_revoke>({
          .name = "claim.revoke",
          .help = "End the claim of an item, as an operator",
          .scope = Scope::admin,
          .sql = "claim_revoke",
          .refusals = refusals<Errc::not_found, Errc::busy, Errc::lost>,
          .example = R"({"key":"SD-1","reason":"wrong branch"})",
      }),
  };
  return acts;
}

}  // namespace leasehold::act
