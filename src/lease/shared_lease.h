// A lease that grants are attached to, opened, extended and closed for itself: a worker's, a loader's. The
// caller proves with `instance` that the lease is its own. That text is drawn at random for each lease: the holder's
// own instance is no proof, because every look at one of its locks shows it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/digest.h"
#include "lease/ask.h"
#include "leasehold/result.h"
#include "model/bounds.h"
#include "storage/query.h"

namespace leasehold::lease {

/// For `lost` and `not_found`. `what` is for the message: "the worker's lease".
Error shared_lease_refusal(std::string_view what, const storage::Outcome& outcome,
                           const std::optional<std::string>& why);

/// `statement` is sql::LeaseOpen or sql::LoaderOpen.
template <typename S>
Result<SharedLease> open_shared_lease(storage::Backend& backend, S statement, const Holder& holder, Duration ttl,
                                      BootTime deadline) {
  if (auto checked = check_holder(holder); !checked) return std::move(checked).error();
  if (auto checked = check_ttl(ttl); !checked) return std::move(checked).error();
  const auto request_id = random_request_id();
  statement.ttl = ttl;
  statement.request_id = request_id;
  statement = with_holder(statement, holder);
  auto secret = random_hex();
  statement.instance = secret;
  BootTime before_sending;
  auto opened = ask_again(deadline, [&] {
    before_sending = BootClock::now();
    return storage::query_one(backend, statement, deadline);
  });
  if (!opened) return std::move(opened).error();
  return SharedLease{
      .id = opened->lease_id,
      .instance = std::move(secret),
      .ttl = opened->ttl,
      .expires_at = opened->expires_at,
      .trusted_until = trusted_until(before_sending, opened->ttl, opened->expires_at - opened->store_now)};
}

/// `statement` is sql::LeaseClose or sql::LoaderClose.
template <typename S>
Result<void> close_shared_lease(storage::Backend& backend, const S& statement, std::string_view what,
                                BootTime deadline) {
  if (auto checked = check_text("instance", statement.instance); !checked) return checked;
  auto answer = ask_again(deadline, [&] { return storage::query_one(backend, statement, deadline); });
  if (!answer) return std::move(answer).error();
  if (answer->outcome.done()) return {};
  return shared_lease_refusal(what, answer->outcome, answer->why);
}

}  // namespace leasehold::lease
