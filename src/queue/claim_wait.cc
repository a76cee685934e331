// Jobs::claim: what may be asked for, the dead of this host, and waiting for work.
#include <algorithm>
#include <thread>

#include "base/random_id.h"
#include "core/job_limits.h"
#include "core/limits.h"
#include "queue/claim.h"
#include "queue/jobs.h"

namespace leasehold {
namespace queue {
namespace {

// Wake-ups are hints; this is the truth.
constexpr Duration look_again = std::chrono::seconds(1);
// There is work, but somebody else had his hands on it.
constexpr Duration look_again_when_busy = std::chrono::milliseconds(20);
// Wake-ups that turn out to be for others are answered ever more slowly, up to this.
constexpr Duration longest_damping = std::chrono::milliseconds(50);

Result<void> check_attached(const WorkLease& lease) { return check_text("instance", lease.instance); }

Result<void> check_claim(const Wish& wish, const ClaimOptions& options) {
  if (auto checked = check_name("queue name", wish.queue); !checked) return checked;
  if (auto checked = check_most(wish.most); !checked) return checked;
  if (auto checked = check_holder(wish.holder); !checked) return checked;
  if (auto checked = check_name("request id", wish.request_id); !checked) return checked;
  if (auto checked = check_delay("time to wait", options.wait); !checked) return checked;
  if (options.attach) {
    if (auto checked = check_attached(*options.attach); !checked) return checked;
  }
  return wish.ttl ? check_ttl(*wish.ttl) : Result<void>();
}

Result<Wish> wish_from(std::string_view queue, const ClaimOptions& options) {
  Wish wish{.queue = std::string(queue),
            .most = options.most,
            .ttl = std::nullopt,
            .holder = options.holder ? *options.holder : Holder::self(),
            .request_id = options.request_id.empty() ? random_request_id() : options.request_id,
            .attach = std::nullopt};
  if (options.ttl != Duration(0)) wish.ttl = options.ttl;
  if (options.attach) {
    wish.attach = options.attach->id;
    // A job that has to be claimed alone gets a lease of its own, like the one it was to be attached to.
    wish.holder.instance = options.attach->instance;
    wish.ttl = options.attach->ttl;
    wish.request_id = random_request_id();
  }
  if (auto checked = check_claim(wish, options); !checked) return std::move(checked).error();
  return wish;
}

/// Somebody who died on this host may hold what this claim wants.
bool may_be_with_the_dead(const Result<JobGrant>& grant) {
  if (grant) return false;
  const auto code = grant.error().code;
  return code == Errc::empty || code == Errc::at_capacity || code == Errc::busy;
}

Duration until_next_look(const Error& refusal) {
  if (refusal.code == Errc::busy) return look_again_when_busy;
  return std::clamp<Duration>(refusal.retry_in.value_or(look_again), std::chrono::milliseconds(1), look_again);
}

/// A busy store wakes a waiter with every commit, also those that are none of its business.
class Damping {
 public:
  void after_wake_up() {
    if (pause_ > Duration(0)) std::this_thread::sleep_for(pause_);
    pause_ = std::clamp<Duration>(pause_ * 2, std::chrono::milliseconds(1), longest_damping);
  }
  void after_silence() { pause_ = Duration(0); }

 private:
  Duration pause_{0};
};

}  // namespace
}  // namespace queue

Result<JobGrant> Jobs::Impl::claim_once(const queue::Wish& wish) const {
  auto grant = queue::try_claim(*backend, wish, *positions, deadline());
  if (!queue::may_be_with_the_dead(grant)) return grant;
  if (reaper->reap_now_and_then(*backend, deadline()).leases == 0) return grant;
  return queue::try_claim(*backend, wish, *positions, deadline());
}

Result<JobGrant> Jobs::Impl::claim_patiently(const queue::Wish& wish, BootTime until) const {
  const auto topic = "queue:" + wish.queue;
  const auto watch = backend->watch(topic);
  queue::Damping damping;
  for (;;) {
    // Before asking: what comes in after that will wake us.
    const bool awaited_already = awaited->known(topic, BootClock::now());
    auto grant = claim_once(wish);
    if (!queue::may_change(grant) || BootClock::now() >= until) return grant;
    if (!awaited_already) {
      awaited->tell_store(*backend, topic, deadline());
      continue;
    }
    const auto next = std::min(until, BootClock::now() + queue::until_next_look(grant.error()));
    watch->wait(next);
    if (BootClock::now() < next) {
      damping.after_wake_up();
    } else {
      damping.after_silence();
    }
  }
}

Result<JobGrant> Jobs::claim(std::string_view queue, const ClaimOptions& options) const {
  auto wish = queue::wish_from(queue, options);
  if (!wish) return std::move(wish).error();
  if (options.wait == Duration(0)) return impl_->claim_once(*wish);
  return impl_->claim_patiently(*wish, BootClock::now() + options.wait);
}

}  // namespace leasehold
