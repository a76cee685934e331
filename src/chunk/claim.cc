#include "chunk/chunks.h"
#include "lease/call.h"
#include "lease/patience.h"
#include "lease/shared_lease.h"
#include "model/bounds.h"
#include "model/described.h"
#include "model/errors.h"
#include "storage/query.h"

namespace leasehold {

namespace chunk {
namespace {

using Rows = std::vector<sql::ChunkClaimed>;

sql::ChunkClaim statement_for(const Request& request) {
  sql::ChunkClaim claim{
      .set_name = request.set, .max = request.max, .ttl = request.ttl, .older_than = request.older_than};
  if (!request.key.empty()) claim.key = request.key;
  return lease::with_claimant(claim, request);
}

Chunk chunk_from(sql::ChunkClaimed& row, const std::string& set) {
  auto previous = lease::holder_named(std::move(row.previous_holder));
  if (previous) previous->host = std::move(row.previous_host).value_or("");
  auto chunk = std::move(row).as<Chunk, 2>();
  chunk.set = set;
  chunk.previous_holder = std::move(previous);
  return chunk;
}

ChunkGrant grant_from(Rows& rows, const Request& request, BootTime before_sending) {
  const auto& first = rows.front();
  ChunkGrant grant;
  grant.lease_id = first.lease_id.value_or(0);
  grant.holder = request.holder;
  grant.ttl = first.ttl.value_or(Duration{});
  grant.expires_at = first.expires_at.value_or(Timestamp{});
  grant.trusted_until = trusted_until(before_sending, grant.ttl, grant.expires_at - first.store_now);
  grant.solo = first.solo;
  grant.replayed = first.replayed;
  grant.chunks.reserve(rows.size());
  for (auto& row : rows) grant.chunks.push_back(chunk_from(row, request.set));
  return grant;
}

}  // namespace

Result<ChunkGrant> try_claim(lease::StoreCall call, const Request& request) {
  const auto claim = statement_for(request);
  // An attached claim has no request id of its own. If its answer is lost, a repeated request would claim further
  // chunks, while those of the first answer stay under the lease until it ends.
  auto rows = call.repeat(request.attach ? lease::IfLost::give_up : lease::IfLost::ask_again,
                          [&] { return call.ask_rows(claim); });
  if (!rows) return std::move(rows).error();
  if (rows->empty()) return odd_answer(describe(request.set), "nothing");
  if (!rows->front().outcome.done()) return claim_refusal(rows->front(), request.set, request.key);
  return grant_from(*rows, request, call.before_sending());
}

}  // namespace chunk

// Chunks::claim: checks of the arguments, dead processes of this host, and waiting for a chunk.
namespace chunk {
namespace {

Result<void> check_claim(const Request& request, const ChunkClaimOptions& options, const Call& call) {
  if (auto checked = check_name("set name", request.set); !checked) return checked;
  if (auto checked = model::check_fields_of(options); !checked) return checked;
  if (auto checked = check_claim_call(call); !checked) return checked;
  return check_new_ttl(request.ttl);
}

Result<Request> request_from(std::string_view set, const ChunkClaimOptions& options, const Call& call) {
  Request request{.set = std::string(set), .key = options.key, .max = options.max, .older_than = options.older_than};
  lease::claim_as(request, options, call);
  if (auto checked = check_claim(request, options, call); !checked) return std::move(checked).error();
  return request;
}

}  // namespace
}  // namespace chunk

Result<ChunkGrant> Chunks::Impl::claim_once(const chunk::Request& request, const Call& call) const {
  const auto once = [&] { return chunk::try_claim(new_call(call), request); };
  return lease::ask_past_the_dead(*backend, *reaper, call_timeout, once,
                                  [](const Error& refusal) { return may_wait(refusal.code); });
}

Result<ChunkGrant> Chunks::Impl::claim_patiently(const chunk::Request& request, const ChunkClaimOptions& options,
                                                 const Call& call) const {
  const lease::Patience patience{
      .topic = "chunks:" + request.set, .until = BootClock::now() + bounded_wait(options.wait), .stop = call.stop};
  const auto once = [&] { return claim_once(request, call); };
  const auto may_change = [&](const Error& refusal) {
    // A final set refuses with `empty` and no moment to try again.
    const bool is_final = refusal.code == Errc::empty && !refusal.retry_at;
    return may_wait(refusal.code) && (!is_final || options.keep_waiting);
  };
  return lease::ask_patiently(*backend, *awaited, call_timeout, patience, once, may_change);
}

Result<ChunkGrant> Chunks::claim(std::string_view set, const ChunkClaimOptions& options, const Call& call) const {
  auto request = chunk::request_from(set, options, call);
  if (!request) return std::move(request).error();
  impl_->housekeeper->before_work();
  if (options.wait == Duration(0)) return impl_->claim_once(*request, call);
  return impl_->claim_patiently(*request, options, call);
}

// One lease for many claims: opened, extended and closed by a loader.
namespace chunk {
namespace {

constexpr std::string_view loaders_lease = "the loader's lease";

}  // namespace
}  // namespace chunk

Result<SharedLease> Chunks::open_lease(Duration ttl, const Call& call) const {
  return lease::open_shared_lease(impl_->new_call(call), sql::LoaderOpen{}, ttl, call);
}

Result<SharedLease> Chunks::extend(const SharedLease& lease, std::optional<Duration> ttl) const {
  auto call = impl_->new_call();
  const auto rows = lease::extend_shared_lease<sql::LoaderExtend>(call, chunk::loaders_lease, lease, ttl);
  if (!rows) return rows.error();
  auto extended = lease;
  lease::note_extension(extended, rows->front(), call.before_sending());
  return extended;
}

Result<void> Chunks::close(const SharedLease& lease) const {
  return lease::close_shared_lease<sql::LoaderClose>(impl_->new_call(), chunk::loaders_lease, lease);
}

}  // namespace leasehold
