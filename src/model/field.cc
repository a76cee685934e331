#include "model/field.h"

#include <algorithm>

#include "model/describe.h"

namespace leasehold::model {
namespace {

struct IsEmpty {
  bool operator()(std::monostate) const { return true; }
  bool operator()(bool) const { return false; }
  bool operator()(std::int64_t number) const { return number == 0; }
  bool operator()(Duration span) const { return span == Duration::zero(); }
  bool operator()(Timestamp when) const { return when == Timestamp{}; }
  bool operator()(const Object&) const { return false; }
  template <typename List>
  bool operator()(const List& list) const {
    return list.empty();
  }
};

}  // namespace

Value value_of(const Field& field, const void* object) {
  auto value = field.get(object);
  if (field.empty_is_none && std::visit(IsEmpty{}, value)) return {};
  return value;
}

Duration time_left(BootTime until) { return std::max(until - BootClock::now(), Duration::zero()); }

std::int64_t whole_minutes(Duration span) { return std::chrono::duration_cast<std::chrono::minutes>(span).count(); }

}  // namespace leasehold::model
