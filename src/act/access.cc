// Acts on API tokens and the audit log.
#include "leasehold/access.h"

#include "act/act.h"
#include "act/arguments.h"

namespace leasehold::act {
namespace {

struct TokenById {
  std::int64_t id = 0;
};

Described describe(Type<TokenById>) {
  static constexpr auto fields = fields_of<TokenById>({
      field<&TokenById::id>("id").needed().means("the number of the token"),
  });
  static const TokenById fresh;
  return {"TokenById", fields, &fresh};
}

Result<CreatedToken> token_create(const Store& store, const NewToken& given, const Call& /*call*/) {
  return store.access().create_token(given);
}

Result<Page<TokenInfo>> token_list(const Store& store, const TokenFilter& given, const Call& /*call*/) {
  return store.access().tokens(given);
}

Result<TokenInfo> token_revoke(const Store& store, const TokenById& given, const Call& /*call*/) {
  return store.access().revoke_token(given.id);
}

Result<Page<AuditEntry>> audit_list(const Store& store, const AuditFilter& given, const Call& /*call*/) {
  return store.access().audit(given);
}

}  // namespace

std::span<const Act> access_acts() {
  static constexpr Act acts[] = {
      act<token_create>({
          .name = "token.create",
          .help = "Create an API token; its secret is shown only in this answer",
          .scope = Scope::admin,
          .sql = "token_set",
          .reveals = true,
          .example = R"({"name":"mailer","scope":"work","only":["queue:mail*"],"expires_in_seconds":2592000})",
      }),
      act<token_list>({
          .name = "token.list",
          .help = "List API tokens, without their secrets",
          .scope = Scope::admin,
          .reads = true,
          .idempotent = true,
          .example = R"({"state":"active"})",
      }),
      act<token_revoke>({
          .name = "token.revoke",
          .help = "Revoke an API token; the next request with it is refused",
          .scope = Scope::admin,
          .sql = "token_set",
          .idempotent = true,
          .refusals = refusals<Errc::not_found>,
          .example = R"({"id":3})",
      }),
      act<audit_list>({
          .name = "audit.list",
          .help = "List the audit log, the newest entry first: who did what to what, and with which outcome",
          .scope = Scope::admin,
          .reads = true,
          .idempotent = true,
          .example = R"({"act":"token.create","max":20})",
      }),
  };
  return acts;
}

}  // namespace leasehold::act
