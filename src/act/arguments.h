// Arguments and answers that several acts have.
#pragma once

#include <optional>
#include <string>

#include "leasehold/call.h"
#include "leasehold/lease.h"
#include "model/describe.h"

namespace leasehold::act {

using model::Described;
using model::field;
using model::fields_of;
using model::inlined;
using model::Type;

struct Nothing {};
Described describe(Type<Nothing>);

/// One thing by its name.
struct ByName {
  std::string name{};
};
Described describe(Type<ByName>);

/// The same, and why.
struct ByNameWithReason {
  std::string name{};
  std::string reason{};
};
Described describe(Type<ByNameWithReason>);

/// A name and the token that proves the hold.
struct ByNameAndToken {
  std::string name{};
  Token token{};
};
Described describe(Type<ByNameAndToken>);

/// The same, and perhaps another ttl.
struct HeartbeatOf {
  std::string name{};
  Token token{};
  std::optional<Duration> ttl{};
};
Described describe(Type<HeartbeatOf>);

/// The call under the holder's name that the arguments give, if they give one.
inline Call as_holder(Call call, const std::string& name) {
  if (name.empty()) return call;
  if (!call.holder) call.holder = Holder::self();
  call.holder->name = name;
  return call;
}

}  // namespace leasehold::act
