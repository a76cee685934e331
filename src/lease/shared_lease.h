// A lease of a worker or a loader, to which grants are attached; opened, extended and closed on its own. The caller
// proves its ownership with `instance`, a random text per lease. The holder's own instance is no proof, because each
// look at one of its locks shows it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "lease/answer.h"
#include "lease/call.h"
#include "leasehold/result.h"
#include "model/bounds.h"
#include "storage/query.h"

namespace leasehold::lease {

/// For `lost` and `not_found`. `what` is for the message: "the worker's lease".
Error shared_lease_refusal(std::string_view what, const storage::Outcome& outcome,
                           const std::optional<std::string>& why);

/// `statement` is sql::LeaseOpen or sql::LoaderOpen.
template <typename S>
Result<SharedLease> open_shared_lease(StoreCall store, S statement, Duration ttl, const Call& call) {
  if (auto checked = check_call(call); !checked) return std::move(checked).error();
  if (auto checked = check_ttl(ttl); !checked) return std::move(checked).error();
  const auto holder = holder_of(call);
  const auto request_id = random_request_id();
  statement.ttl = ttl;
  statement.request_id = request_id;
  statement = with_holder(statement, holder);
  auto secret = random_hex();
  statement.instance = secret;
  auto opened = store.ask_again(statement);
  if (!opened) return std::move(opened).error();
  return SharedLease{
      .id = opened->lease_id,
      .instance = std::move(secret),
      .ttl = opened->ttl,
      .expires_at = opened->expires_at,
      .trusted_until = trusted_until(store.before_sending(), opened->ttl, opened->expires_at - opened->store_now)};
}

/// `S` is sql::LeaseExtend or sql::LoaderExtend. Returns its rows; the first one has extended the lease.
template <typename S>
Result<std::vector<typename S::Row>> extend_shared_lease(StoreCall& store, std::string_view what,
                                                         const SharedLease& lease, std::optional<Duration> ttl) {
  if (auto checked = check_new_ttl(ttl); !checked) return std::move(checked).error();
  if (auto checked = check_text("instance", lease.instance); !checked) return std::move(checked).error();
  auto rows = store.ask_rows_again(S{.lease_id = lease.id, .instance = lease.instance, .ttl = ttl});
  if (!rows) return std::move(rows).error();
  if (rows->empty()) return odd_answer(what, "nothing");
  const auto& first = rows->front();
  if (!first.outcome.done()) return shared_lease_refusal(what, first.outcome, first.why);
  return rows;
}

/// `S` is sql::LeaseClose or sql::LoaderClose.
template <typename S>
Result<void> close_shared_lease(StoreCall store, std::string_view what, const SharedLease& lease) {
  if (auto checked = check_text("instance", lease.instance); !checked) return checked;
  auto answer = store.ask_again(S{.lease_id = lease.id, .instance = lease.instance, .reason = "closed"});
  if (!answer) return std::move(answer).error();
  if (answer->outcome.done()) return {};
  return shared_lease_refusal(what, answer->outcome, answer->why);
}

}  // namespace leasehold::lease
