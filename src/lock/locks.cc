#include "lock/locks.h"

#include <fmt/format.h>
#include <algorithm>
#include <atomic>
#include <system_error>

#include "base/digest.h"
#include "base/time_text.h"
#include "lease/answer.h"
#include "lease/call.h"
#include "leasehold/election.h"
#include "model/bounds.h"
#include "model/errors.h"
#include "storage/query.h"

namespace leasehold {
namespace {

Error bad(std::string message) { return {.code = Errc::invalid_argument, .message = std::move(message)}; }

/// Each thread of a process gets a holder of its own: only a thread that waits for itself would wait forever.
Holder holder_of_thread(const std::optional<Holder>& given) {
  static std::atomic<int> threads{0};
  thread_local const auto number = std::to_string(++threads);
  auto self = Holder::self();
  auto holder = given ? *given : self;
  if (holder.instance == self.instance) holder.instance += "/" + number;
  return holder;
}

Result<void> check_names(const std::vector<std::string>& names) {
  if (names.empty() || names.size() > bounds::max_locks_together) {
    return bad(fmt::format("1 to {} locks can be taken together, not {}", bounds::max_locks_together, names.size()));
  }
  for (const auto& name : names) {
    if (auto checked = check_name("lock name", name); !checked) return checked;
    if (std::count(names.begin(), names.end(), name) > 1) return bad(lock::describe(name) + " is named twice");
  }
  return {};
}

Result<void> check_share(const Share& share, std::size_t names) {
  if (names > 1) return bad("locks taken together cannot be shared");
  if (share.permits < 1 || share.permits > bounds::max_permits) {
    return bad(fmt::format("permits are between 1 and {}, not {}", bounds::max_permits, share.permits));
  }
  if (!share.capacity) {
    return share.permits == 1 ? Result<void>() : bad("permits need a capacity: give it, too");
  }
  if (auto checked = check_range("capacity", *share.capacity, 1, bounds::max_permits); !checked) return checked;
  if (share.permits > *share.capacity) {
    return bad(std::to_string(share.permits) + " permits are more than the capacity of " +
               std::to_string(*share.capacity));
  }
  return {};
}

Result<void> check_times(const AcquireOptions& options) {
  if (auto checked = check_ttl(options.ttl); !checked) return checked;
  if (auto checked = check_wait(options.wait); !checked) return checked;
  if (options.lock_delay < Duration(0) || options.lock_delay > bounds::max_lock_delay) {
    return bad("the lock delay is not between 0 and " + format_duration(bounds::max_lock_delay));
  }
  return {};
}

Result<lock::Request> request_from(std::vector<std::string> names, const AcquireOptions& options, const Call& call) {
  if (auto checked = check_names(names); !checked) return std::move(checked).error();
  if (auto checked = check_times(options); !checked) return std::move(checked).error();
  if (auto checked = check_call(call); !checked) return std::move(checked).error();
  if (options.share) {
    if (auto checked = check_share(*options.share, names.size()); !checked) return std::move(checked).error();
  }
  lock::Request request{.names = std::move(names),
                        .share = options.share,
                        .holder = holder_of_thread(call.holder),
                        .ttl = options.ttl,
                        .delay = options.lock_delay > Duration(0) ? std::optional(options.lock_delay) : std::nullopt,
                        .request_id = options.request_id.empty() ? random_request_id() : options.request_id};
  if (auto checked = check_name("request id", request.request_id); !checked) return std::move(checked).error();
  return request;
}

}  // namespace

Result<Grant> Locks::acquire(std::string_view name, const AcquireOptions& options, const Call& call) const {
  return acquire_all({std::string(name)}, options, call);
}

Result<Grant> Locks::acquire_all(const std::vector<std::string>& names, const AcquireOptions& options,
                                 const Call& call) const {
  auto request = request_from(names, options, call);
  if (!request) return std::move(request).error();
  impl_->housekeeper->before_work();
  const auto until = BootClock::now() + bounded_wait(options.wait);
  const bool waits = options.wait > Duration(0);
  const auto timeout = call.timeout.value_or(impl_->call_timeout);
  const auto deadline = waits ? lock::call_deadline(timeout, until) : impl_->deadline(call);
  auto grant = lock::try_acquire({*impl_->backend, deadline}, *request);
  if (grant || !waits || !may_wait(grant.error().code)) return grant;
  return lock::acquire_in_line(*impl_->backend, *request, until, timeout, call.stop);
}

Result<Grant> Locks::heartbeat(std::string_view name, Token token, std::optional<Duration> ttl) const {
  if (auto checked = check_name("lock name", name); !checked) return std::move(checked).error();
  if (auto checked = check_new_ttl(ttl); !checked) return std::move(checked).error();
  return lock::heartbeat(impl_->new_call(), name, token, ttl);
}

Result<void> Locks::release(std::string_view name, Token token) const {
  if (auto checked = check_name("lock name", name); !checked) return checked;
  auto answer = impl_->new_call().ask_again(sql::LockRelease{.name = name, .token = token.value});
  if (!answer) return std::move(answer).error();
  if (answer->outcome.done()) return {};
  return lease::refusal_from(*answer, lock::describe(name));
}

Result<LeaseInfo> Locks::revoke(std::string_view name, std::string_view reason, std::optional<Token> token) const {
  if (auto checked = check_name("lock name", name); !checked) return std::move(checked).error();
  if (auto checked = check_text("reason", reason); !checked) return std::move(checked).error();
  // Not repeated if the answer was lost: a second revoke would hit the next holder.
  sql::LockRevoke revoke{.name = name, .reason = reason};
  if (token) revoke.token = token->value;
  auto answer = impl_->new_call().ask(revoke);
  if (!answer) return std::move(answer).error();
  if (answer->outcome.done()) return lease::info_from(*answer);
  if (answer->outcome.is(Reply::free)) {
    return Error{.code = Errc::not_found,
                 .message = lock::describe(name) + " is not held: nothing to revoke",
                 .held_by = lease::info_from(*answer)};
  }
  return lease::refusal_from(*answer, lock::describe(name));
}

Result<HeldLease> Locks::hold(std::string_view name, const AcquireOptions& options, const Call& call) const {
  return hold_all({std::string(name)}, options, call);
}

Result<HeldLease> Locks::hold_all(const std::vector<std::string>& names, const AcquireOptions& options,
                                  const Call& call) const {
  auto grant = acquire_all(names, options, call);
  if (!grant) return std::move(grant).error();
  const auto locks = *this;
  const auto token = grant->token;
  try {
    return HeldLease(
        std::move(*grant),
        [impl = impl_](const Grant& held) {
          return lock::heartbeat(impl->new_heartbeat(held), held.key, held.token, std::nullopt);
        },
        [locks](const Grant& held) { return locks.release(held.key, held.token); }, lease::watch_with(impl_->recalls));
  } catch (const std::system_error& error) {
    // Without the thread, nothing would keep the lease alive: release it.
    static_cast<void>(release(names.front(), token));
    return Error{.code = Errc::unavailable, .message = std::string("no thread for heartbeats: ") + error.what()};
  }
}

Result<Leadership> Election::campaign(const CampaignOptions& options, const Call& call) const {
  auto held = locks_.hold(name_, {.ttl = options.ttl, .wait = options.wait, .lock_delay = options.lock_delay}, call);
  if (!held) return std::move(held).error();
  return Leadership(std::move(*held));
}

}  // namespace leasehold
