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

/// Fills who claims into a request for jobs or chunks: the holder, the request id, and the shared lease to attach to.
template <typename Request, typename Options>
void claim_as(Request& request, const Options& options, const Call& call) {
  request.holder = holder_of(call);
  request.request_id = options.request_id.empty() || call.lease ? random_request_id() : options.request_id;
  request.ttl = options.ttl;
  if (!call.lease) return;
  request.attach = call.lease->id;
  // What must be claimed solo gets its own lease, like the one it would be attached to.
  request.holder.instance = call.lease->instance;
  request.ttl = call.lease->ttl;
}

/// Fills who claims into sql::JobClaim or sql::ChunkClaim.
template <typename S, typename Request>
S with_claimant(S statement, const Request& request) {
  statement.request_id = request.request_id;
  statement.attach = request.attach;
  statement = with_holder(statement, request.holder);
  // The token closes a lease of this claim only. Without an instance, no caller can close it by its id.
  if (!request.attach) statement.instance = {};
  return statement;
}

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
