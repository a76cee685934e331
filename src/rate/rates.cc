#include "rate/rates.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/time_text.h"
#include "lease/answer.h"
#include "lease/call.h"
#include "model/bounds.h"
#include "model/described.h"
#include "storage/query.h"

namespace leasehold {

namespace rate {
namespace {

RateInfo info_from(sql::RateList::Row& row) {
  auto holder = lease::holder_in(row);
  auto info = std::move(row).as<RateInfo, 1>();
  info.holder = std::move(holder);
  return info;
}

}  // namespace

Error no_such_rate(std::string_view name) {
  return {.code = Errc::not_found,
          .message = "rate " + quoted(name) + " does not exist: set the interval between its turns"};
}

}  // namespace rate

Result<bool> Rates::set(std::string_view name, Duration every, int burst) const {
  if (auto checked = check_name("rate name", name); !checked) return std::move(checked).error();
  if (auto checked = model::check_fields_of(RateTakeOptions{.every = every, .burst = burst}); !checked)
    return std::move(checked).error();
  const sql::RateSet statement{.name = name, .every = every, .burst = burst};
  auto answer = impl_->new_call().ask(statement);
  if (!answer) return std::move(answer).error();
  return answer->created;
}

Result<RateInfo> Rates::show(std::string_view name) const {
  if (auto checked = check_name("rate name", name); !checked) return std::move(checked).error();
  const sql::RateList statement{.name = name};
  auto rates = impl_->new_call().list(statement, rate::info_from);
  if (!rates) return std::move(rates).error();
  if (rates->empty()) return rate::no_such_rate(name);
  return std::move(rates->front());
}

Result<std::vector<RateInfo>> Rates::list() const {
  const sql::RateList statement{.name = std::nullopt};
  return impl_->new_call().list(statement, rate::info_from);
}

Result<void> Rates::remove(std::string_view name) const {
  if (auto checked = check_name("rate name", name); !checked) return checked;
  auto answer = impl_->new_call().ask(sql::RateRemove{.name = name});
  if (!answer) return std::move(answer).error();
  if (!answer->removed) return rate::no_such_rate(name);
  return {};
}

// Takes a turn: one request to the store, then a sleep until the turn comes.
namespace rate {
namespace {

Result<void> check_take(std::string_view name, const RateTakeOptions& options, const Call& call) {
  if (auto checked = check_name("rate name", name); !checked) return checked;
  if (auto checked = check_call(call); !checked) return checked;
  return model::check_fields_of(options);
}

std::optional<Duration> patience_of(const RateTakeOptions& options) {
  return options.wait ? std::optional(bounded_wait(*options.wait)) : std::nullopt;
}

Error take_refusal(const sql::RateTake::Row& answer, std::string_view name) {
  const auto what = "rate " + quoted(name);
  const auto code = answer.outcome.refusal();
  if (code == Errc::not_found) return no_such_rate(name);
  if (code != Errc::rate_limited) return lease::odd_answer(what, answer.outcome.word());
  const auto soon = answer.retry_at.value_or(answer.store_now) - answer.store_now;
  return {.code = code,
          .message = fmt::format("{} has no free turn in time; the next is in {}", what, format_duration(soon)),
          .retry_at = answer.retry_at,
          .retry_in = soon};
}

}  // namespace
}  // namespace rate

Result<RateTurn> Rates::take(std::string_view name, const RateTakeOptions& options, const Call& call) const {
  if (auto checked = rate::check_take(name, options, call); !checked) return std::move(checked).error();
  const auto holder = lease::holder_of(call);
  const sql::RateTake statement{.name = name,
                                .every = options.every,
                                .burst = options.burst,
                                .patience = rate::patience_of(options),
                                .holder = holder.name,
                                .host = holder.host};
  // Repeated even if the answer was lost: at worst one turn is wasted.
  auto answer = impl_->new_call(call).ask_again(statement);
  if (!answer) return std::move(answer).error();
  if (!answer->outcome.done()) return rate::take_refusal(*answer, name);
  const auto at = answer->at.value_or(answer->store_now);
  // The store read its clock before this moment, so the turn has come when the sleep ends.
  const auto asked = BootClock::now();
  if (!sleep_until(asked + (at - answer->store_now), call.stop)) {
    return Error{.code = Errc::busy, .message = "stopped before its turn at rate " + quoted(name)};
  }
  return RateTurn{.name = std::string(name),
                  .at = at,
                  .waited = BootClock::now() - asked,
                  .every = answer->every.value_or(Duration{})};
}

}  // namespace leasehold
