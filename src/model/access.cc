// Descriptions of API tokens and of the audit log.
#include "model/describe.h"

namespace leasehold::model {

Described describe(Type<NewToken>) {
  static constexpr auto fields = fields_of<NewToken>({
      field<&NewToken::name>("name").as_name().needed().means("unique among the active tokens"),
      field<&NewToken::scope>("scope").means("what the token may do; each scope includes those before it"),
      field<&NewToken::only>("only")
          .as_name()
          .up_to(bounds::max_patterns)
          .called("patterns")
          .means("patterns such as `queue:mail*`, for the things that it may touch; empty: everything"),
      field<&NewToken::expires_in>("expires_in_seconds")
          .from(bounds::min_token_life, bounds::max_delay)
          .means("how long it is valid; null: until it is revoked"),
  });
  static const NewToken fresh;
  return {"NewToken", fields, &fresh};
}

Described describe(Type<TokenInfo>) {
  static constexpr auto fields = fields_of<TokenInfo>({
      field<&TokenInfo::id>("id").means("the number of the token"),
      field<&TokenInfo::name>("name"),
      field<&TokenInfo::scope>("scope"),
      field<&TokenInfo::only>("only"),
      field<&TokenInfo::created_at>("created_at"),
      field<&TokenInfo::expires_at>("expires_at").means("until when it is valid; null: until it is revoked"),
      field<&TokenInfo::last_used_at>("last_used_at"),
      field<&TokenInfo::revoked_at>("revoked_at"),
      field<&TokenInfo::state>("state").means("`active`, `expired` or `revoked`"),
      hidden<&TokenInfo::store_now>(),
  });
  return {"TokenInfo", fields};
}

Described describe(Type<CreatedToken>) {
  static constexpr auto fields = fields_of<CreatedToken>({
      inlined<&CreatedToken::info>(),
      field<&CreatedToken::secret>("secret"),
  });
  return {"CreatedToken", fields};
}

Described describe(Type<TokenFilter>) {
  static constexpr auto fields = fields_of<TokenFilter>({
      field<&TokenFilter::state>("state"),
      field<&TokenFilter::name>("name").or_null().as_text().means("only tokens with this name"),
      field<&TokenFilter::max>("max").at_least_one(),
      field<&TokenFilter::page>("page").or_null().as_text(),
  });
  static const TokenFilter fresh;
  return {"TokenFilter", fields, &fresh};
}

Described describe(Type<AuditEntry>) {
  static constexpr auto fields = fields_of<AuditEntry>({
      field<&AuditEntry::id>("id").means("the number of the entry"),
      field<&AuditEntry::at>("at"),
      field<&AuditEntry::by>("by").as_text(),
      field<&AuditEntry::act>("act").as_text(bounds::name_bytes),
      field<&AuditEntry::key>("key").or_null().as_text().means(
          "the name, id or key of what the act touched; null: the store"),
      field<&AuditEntry::outcome>("outcome").as_text(bounds::name_bytes).means("`done`, or the code of the refusal"),
      field<&AuditEntry::detail>("detail").or_null().as_text(),
      field<&AuditEntry::request_id>("request_id").or_null().as_text(),
  });
  return {"AuditEntry", fields};
}

Described describe(Type<AuditFilter>) {
  static constexpr auto fields = fields_of<AuditFilter>({
      field<&AuditFilter::by>("by").or_null().as_text().means("only what this caller did"),
      field<&AuditFilter::act>("act").or_null().as_text().means("only this act"),
      field<&AuditFilter::key>("key").or_null().as_text().means("only what touched this"),
      field<&AuditFilter::since>("since").as_moment().means("only from this moment on"),
      field<&AuditFilter::until>("until").as_moment().means("only before this moment"),
      field<&AuditFilter::max>("max").at_least_one(),
      field<&AuditFilter::page>("page").or_null().as_text(),
  });
  static const AuditFilter fresh;
  return {"AuditFilter", fields, &fresh};
}

}  // namespace leasehold::model
