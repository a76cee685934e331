#include "act/arguments.h"

namespace leasehold::act {

Described describe(Type<Nothing>) {
  static const Nothing fresh;
  return {"Nothing", {}, &fresh};
}

Described describe(Type<ByName>) {
  static constexpr auto fields = fields_of<ByName>({field<&ByName::name>("name").as_name().needed()});
  static const ByName fresh;
  return {"ByName", fields, &fresh};
}

Described describe(Type<ByNameWithReason>) {
  static constexpr auto fields = fields_of<ByNameWithReason>({
      field<&ByNameWithReason::name>("name").as_name().needed(),
      field<&ByNameWithReason::reason>("reason").as_text(),
  });
  static const ByNameWithReason fresh;
  return {"ByNameWithReason", fields, &fresh};
}

Described describe(Type<ByNameAndToken>) {
  static constexpr auto fields = fields_of<ByNameAndToken>({
      field<&ByNameAndToken::name>("name").as_name().needed(),
      field<&ByNameAndToken::token>("token").needed(),
  });
  static const ByNameAndToken fresh;
  return {"ByNameAndToken", fields, &fresh};
}

Described describe(Type<HeartbeatOf>) {
  static constexpr auto fields = fields_of<HeartbeatOf>({
      field<&HeartbeatOf::name>("name").as_name().needed(),
      field<&HeartbeatOf::token>("token").needed(),
      field<&HeartbeatOf::ttl>("ttl_seconds").from(bounds::min_ttl, bounds::max_ttl),
  });
  static const HeartbeatOf fresh;
  return {"HeartbeatOf", fields, &fresh};
}

}  // namespace leasehold::act
