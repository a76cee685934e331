// Jobs::claim: what may be asked for, the dead of this host, and waiting for work.
#include <utility>

#include "base/random_id.h"
#include "core/job_limits.h"
#include "core/limits.h"
#include "lease/patience.h"
#include "queue/claim.h"
#include "queue/jobs.h"

namespace leasehold {
namespace queue {
namespace {

Result<void> check_attached(const WorkLease& lease) { return check_text("instance", lease.instance); }

Result<void> check_claim(const Wish& wish, const ClaimOptions& options) {
  if (auto checked = check_name("queue name", wish.queue); !checked) return checked;
  if (auto checked = check_most(wish.most); !checked) return checked;
  if (auto checked = check_holder(wish.holder); !checked) return checked;
  if (auto checked = check_name("request id", wish.request_id); !checked) return checked;
  if (auto checked = check_wait(options.wait); !checked) return checked;
  if (options.attach) {
    if (auto checked = check_attached(*options.attach); !checked) return checked;
  }
  return wish.ttl ? check_ttl(*wish.ttl) : Result<void>();
}

/// Somebody who died on this host may hold what this claim wants.
bool may_be_with_the_dead(const Error& refusal) {
  return refusal.code == Errc::empty || refusal.code == Errc::at_capacity || refusal.code == Errc::busy;
}

}  // namespace

Result<Wish> wish_from(std::string_view queue, const ClaimOptions& options) {
  Wish wish{.queue = std::string(queue),
            .most = options.most,
            .ttl = std::nullopt,
            .holder = options.holder ? *options.holder : Holder::self(),
            .request_id = options.request_id.empty() || options.attach ? random_request_id() : options.request_id,
            .attach = std::nullopt};
  if (options.ttl != Duration(0)) wish.ttl = options.ttl;
  if (options.attach) {
    wish.attach = options.attach->id;
    // A job that has to be claimed alone gets a lease of its own, like the one it was to be attached to.
    wish.holder.instance = options.attach->instance;
    wish.ttl = options.attach->ttl;
  }
  if (auto checked = check_claim(wish, options); !checked) return std::move(checked).error();
  return wish;
}

}  // namespace queue

Result<JobGrant> Jobs::Impl::claim_once(const queue::Wish& wish, std::optional<Result<JobGrant>> first) const {
  const auto once = [&] {
    return first ? *std::exchange(first, std::nullopt) : queue::Asking(wish, *positions).ask(*backend, deadline());
  };
  return lease::ask_past_the_dead(*backend, *reaper, call_timeout, once, queue::may_be_with_the_dead);
}

Result<JobGrant> Jobs::Impl::claim(const queue::Wish& wish, const ClaimOptions& options,
                                   std::optional<Result<JobGrant>> first) const {
  const auto once = [&] { return claim_once(wish, std::exchange(first, std::nullopt)); };
  if (options.wait == Duration(0)) return once();
  const lease::Patience patience{
      .topic = "queue:" + wish.queue, .until = BootClock::now() + bounded_wait(options.wait), .stop = options.stop};
  return lease::ask_patiently(*backend, *awaited, call_timeout, patience, once, queue::may_change);
}

Result<JobGrant> Jobs::claim(std::string_view queue, const ClaimOptions& options) const {
  auto wish = queue::wish_from(queue, options);
  if (!wish) return std::move(wish).error();
  return impl_->claim(*wish, options);
}

}  // namespace leasehold
