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

Described describe(Type<Released>) {
  static constexpr auto fields = fields_of<Released>({
      field<&Released::released>("released").means("it is released, perhaps since an earlier call"),
      field<&Released::name>("name"),
      field<&Released::token>("token"),
  });
  return {"Released", fields};
}

Described describe(Type<Removed>) {
  static constexpr auto fields = fields_of<Removed>({
      field<&Removed::removed>("removed").means("it is gone"),
      field<&Removed::name>("name"),
  });
  return {"Removed", fields};
}

Described describe(Type<Count>) {
  static constexpr auto fields = fields_of<Count>({field<&Count::count>("count").means("how many were changed")});
  return {"Count", fields};
}

}  // namespace leasehold::act
