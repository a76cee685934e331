// Taking a turn: one question to the store, then sleeping until the turn has come.
#include <fmt/format.h>

#include "base/text.h"
#include "core/duration.h"
#include "core/limits.h"
#include "lease/answer.h"
#include "lease/retry.h"
#include "limit/limits.h"
#include "limit/rate.h"
#include "storage/boot_wait.h"
#include "storage/query.h"

namespace leasehold {
namespace limit {
namespace {

Result<void> check_take(std::string_view name, const TakeOptions& options, std::string_view holder) {
  if (auto checked = check_name("limit name", name); !checked) return checked;
  if (auto checked = check_rate(options.every, options.burst); !checked) return checked;
  if (auto checked = check_wait(options.wait.value_or(Duration(0))); !checked) return checked;
  return check_name("holder name", holder);
}

std::optional<Duration> patience_of(const TakeOptions& options) {
  return options.wait ? std::optional(bounded_wait(*options.wait)) : std::nullopt;
}

Error take_refusal(const sql::LimitTake::Row& answer, std::string_view name) {
  const auto what = "limit " + quoted(name);
  if (answer.outcome == "not_found") return no_such_limit(name);
  if (answer.outcome != "rate_limited") return lease::odd_answer(what, answer.outcome);
  const auto soon = answer.retry_at.value_or(answer.store_now) - answer.store_now;
  return {.code = Errc::rate_limited,
          .message = fmt::format("{} has no free turn in time; the next one is in {}", what, format_duration(soon)),
          .retry_at = answer.retry_at,
          .retry_in = soon};
}

}  // namespace
}  // namespace limit

Result<LimitSlot> Limits::take(std::string_view name, const TakeOptions& options) const {
  const auto self = Holder::self(options.holder);
  if (auto checked = limit::check_take(name, options, self.name); !checked) return std::move(checked).error();
  const sql::LimitTake statement{.name = name,
                                 .every = options.every,
                                 .burst = options.burst,
                                 .patience = limit::patience_of(options),
                                 .holder = self.name,
                                 .host = self.host};
  const auto deadline = impl_->deadline();
  // Also where the answer was lost: at worst one turn is wasted.
  auto answer = lease::ask_again(deadline, [&] { return storage::query_one(*impl_->backend, statement, deadline); });
  if (!answer) return std::move(answer).error();
  if (answer->outcome != "granted") return limit::take_refusal(*answer, name);
  const auto at = answer->at.value_or(answer->store_now);
  // The store's clock was read before now, so it is the caller's turn by then at the latest.
  const auto asked = BootClock::now();
  if (!storage::sleep_until(asked + (at - answer->store_now), options.stop)) {
    return Error{.code = Errc::busy, .message = "told to stop before its turn at limit " + quoted(name) + " came"};
  }
  return LimitSlot{.at = at, .waited = BootClock::now() - asked, .every = answer->every.value_or(Duration{})};
}

}  // namespace leasehold
