#include "limit/limits.h"

#include <fmt/format.h>

#include "base/text.h"
#include "core/duration.h"
#include "core/limits.h"
#include "limit/rate.h"
#include "storage/query.h"

namespace leasehold {
namespace limit {
namespace {

LimitInfo info_from(sql::LimitList::Row& row) {
  return {.name = std::move(row.name),
          .every = row.every,
          .burst = static_cast<int>(row.burst),
          .next_at = row.next_at,
          .taken = row.taken,
          .taken_at = row.taken_at,
          .holder = std::move(row.holder),
          .host = std::move(row.host),
          .store_now = row.store_now};
}

}  // namespace

Error no_such_limit(std::string_view name) {
  return {.code = Errc::not_found,
          .message = "limit " + quoted(name) + " does not exist: say how far apart its turns are"};
}

Result<void> check_rate(std::optional<Duration> every, std::optional<int> burst) {
  if (every && (*every < shortest_interval || *every > longest_interval)) {
    return Error{.code = Errc::invalid_argument,
                 .message = fmt::format("turns {} apart are not between {} and {} apart", format_duration(*every),
                                        format_duration(shortest_interval), format_duration(longest_interval))};
  }
  return check_range("burst", burst.value_or(1), 1, max_burst);
}

}  // namespace limit

Result<bool> Limits::set(std::string_view name, Duration every, int burst) const {
  if (auto checked = check_name("limit name", name); !checked) return std::move(checked).error();
  if (auto checked = limit::check_rate(every, burst); !checked) return std::move(checked).error();
  const sql::LimitSet statement{.name = name, .every = every, .burst = burst};
  auto answer = storage::query_one(*impl_->backend, statement, impl_->deadline());
  if (!answer) return std::move(answer).error();
  return answer->created;
}

Result<LimitInfo> Limits::show(std::string_view name) const {
  if (auto checked = check_name("limit name", name); !checked) return std::move(checked).error();
  const sql::LimitList statement{.name = name};
  auto limits = storage::query_list(*impl_->backend, statement, impl_->deadline(), limit::info_from);
  if (!limits) return std::move(limits).error();
  if (limits->empty()) return limit::no_such_limit(name);
  return std::move(limits->front());
}

Result<std::vector<LimitInfo>> Limits::list() const {
  const sql::LimitList statement{.name = std::nullopt};
  return storage::query_list(*impl_->backend, statement, impl_->deadline(), limit::info_from);
}

Result<void> Limits::remove(std::string_view name) const {
  if (auto checked = check_name("limit name", name); !checked) return checked;
  auto answer = storage::query_one(*impl_->backend, sql::LimitRemove{.name = name}, impl_->deadline());
  if (!answer) return std::move(answer).error();
  if (!answer->removed) return limit::no_such_limit(name);
  return {};
}

}  // namespace leasehold
