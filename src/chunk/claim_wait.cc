// Chunks::claim: what may be asked for, the dead of this host, and waiting for a chunk.
#include "base/random_id.h"
#include "chunk/chunks.h"
#include "chunk/claim.h"
#include "core/chunk_limits.h"
#include "core/job_limits.h"
#include "core/limits.h"
#include "lease/patience.h"

namespace leasehold {
namespace chunk {
namespace {

Result<void> check_times(const Wish& wish, Duration wait) {
  if (auto checked = check_wait(wait); !checked) return checked;
  if (auto checked = check_delay("age", wish.older_than.value_or(Duration(0))); !checked) return checked;
  return wish.ttl ? check_ttl(*wish.ttl) : Result<void>();
}

Result<void> check_claim(const Wish& wish, const ChunkClaimOptions& options) {
  if (auto checked = check_name("set name", wish.set); !checked) return checked;
  if (!wish.key.empty()) {
    if (auto checked = check_name("chunk key", wish.key); !checked) return checked;
  }
  if (auto checked = check_most(wish.most); !checked) return checked;
  // With the instance of the lease to attach to in it.
  if (auto checked = check_holder(wish.holder); !checked) return checked;
  if (auto checked = check_name("request id", wish.request_id); !checked) return checked;
  return check_times(wish, options.wait);
}

Result<Wish> wish_from(std::string_view set, const ChunkClaimOptions& options) {
  Wish wish{.set = std::string(set),
            .key = std::string(options.key),
            .most = options.most,
            .ttl = std::nullopt,
            .older_than = options.older_than,
            .holder = options.holder ? *options.holder : Holder::self(),
            .request_id = options.request_id.empty() ? random_request_id() : options.request_id,
            .attach = std::nullopt};
  if (options.ttl != Duration(0)) wish.ttl = options.ttl;
  if (options.attach) {
    wish.attach = options.attach->id;
    // A chunk that has to be claimed alone gets a lease of its own, like the one it was to be attached to.
    wish.holder.instance = options.attach->instance;
    wish.ttl = options.attach->ttl;
    wish.request_id = random_request_id();
  }
  if (auto checked = check_claim(wish, options); !checked) return std::move(checked).error();
  return wish;
}

/// Somebody who died on this host may hold what this claim wants.
bool may_be_with_the_dead(const Error& refusal) {
  return refusal.code == Errc::empty || refusal.code == Errc::held || refusal.code == Errc::busy;
}

/// Waiting can change that. A set that is final says `empty` without a moment to look again.
bool may_change(const Error& refusal) {
  if (refusal.code == Errc::empty) return refusal.retry_at.has_value();
  return refusal.code == Errc::held || refusal.code == Errc::busy;
}

}  // namespace
}  // namespace chunk

Result<ChunkGrant> Chunks::Impl::claim_once(const chunk::Wish& wish) const {
  const auto once = [&] { return chunk::try_claim(*backend, wish, deadline()); };
  return lease::ask_past_the_dead(*backend, *reaper, call_timeout, once, chunk::may_be_with_the_dead);
}

Result<ChunkGrant> Chunks::Impl::claim_patiently(const chunk::Wish& wish, const ChunkClaimOptions& options) const {
  const lease::Patience patience{
      .topic = "chunks:" + wish.set, .until = BootClock::now() + bounded_wait(options.wait), .stop = options.stop};
  const auto once = [&] { return claim_once(wish); };
  const auto may_change = [&](const Error& refusal) {
    return chunk::may_change(refusal) || (options.keep_waiting && refusal.code == Errc::empty);
  };
  return lease::ask_patiently(*backend, *awaited, call_timeout, patience, once, may_change);
}

Result<ChunkGrant> Chunks::claim(std::string_view set, const ChunkClaimOptions& options) const {
  auto wish = chunk::wish_from(set, options);
  if (!wish) return std::move(wish).error();
  if (options.wait == Duration(0)) return impl_->claim_once(*wish);
  return impl_->claim_patiently(*wish, options);
}

}  // namespace leasehold
