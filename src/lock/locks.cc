#include "lock/locks.h"

#include <algorithm>
#include <system_error>
#include "base/random_id.h"
#include "core/limits.h"
#include "lease/answer.h"
#include "lease/retry.h"
#include "lock/attempt.h"
#include "storage/query.h"

namespace leasehold {
namespace {

Result<lock::Wish> wish_from(std::string_view name, const AcquireOptions& options) {
  lock::Wish wish{.name = std::string(name),
                  .holder = options.holder ? *options.holder : Holder::self(),
                  .ttl = options.ttl,
                  .request_id = options.request_id.empty() ? random_request_id() : options.request_id};
  if (auto checked = check_name("lock name", name); !checked) return std::move(checked).error();
  if (auto checked = check_ttl(wish.ttl); !checked) return std::move(checked).error();
  if (auto checked = check_holder(wish.holder); !checked) return std::move(checked).error();
  if (auto checked = check_name("request id", wish.request_id); !checked) return std::move(checked).error();
  if (options.wait < Duration(0)) {
    return Error{.code = Errc::invalid_argument, .message = "the time to wait is negative"};
  }
  return wish;
}

}  // namespace

Result<Grant> Locks::Impl::keep_alive(const Grant& held) const {
  const auto patience = std::min(call_timeout, held.ttl / 3);
  return lock::heartbeat(*backend, held.key, held.token, std::nullopt, BootClock::now() + patience);
}

Result<Grant> Locks::acquire(std::string_view name, const AcquireOptions& options) const {
  auto wish = wish_from(name, options);
  if (!wish) return std::move(wish).error();
  // Nobody waits for a century; the sum must not overflow.
  const auto until = BootClock::now() + std::min<Duration>(options.wait, std::chrono::years(100));
  auto grant = lock::try_acquire(*impl_->backend, *wish, impl_->deadline());
  if (!lock::is_refusal(grant) || options.wait == Duration(0)) return grant;
  return lock::acquire_in_line(*impl_->backend, *wish, until, impl_->call_timeout);
}

Result<Grant> Locks::heartbeat(std::string_view name, Token token, Duration ttl) const {
  if (auto checked = check_name("lock name", name); !checked) return std::move(checked).error();
  std::optional<Duration> new_ttl;
  if (ttl != Duration(0)) {
    if (auto checked = check_ttl(ttl); !checked) return std::move(checked).error();
    new_ttl = ttl;
  }
  return lock::heartbeat(*impl_->backend, name, token, new_ttl, impl_->deadline());
}

Result<void> Locks::release(std::string_view name, Token token) const {
  if (auto checked = check_name("lock name", name); !checked) return checked;
  const auto deadline = impl_->deadline();
  auto answer = lease::ask_again(deadline, [&] {
    const sql::LockRelease release{.name = name, .token = token.value};
    return storage::query_one(*impl_->backend, release, deadline);
  });
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "released") return {};
  return lease::refusal_from(*answer, lock::describe(name));
}

Result<LeaseInfo> Locks::revoke(std::string_view name, std::string_view reason) const {
  if (auto checked = check_name("lock name", name); !checked) return std::move(checked).error();
  if (auto checked = check_text("reason", reason); !checked) return std::move(checked).error();
  // Not repeated where the answer was lost: a second one would hit whoever has it by then.
  const sql::LockRevoke revoke{.name = name, .reason = reason};
  auto answer = storage::query_one(*impl_->backend, revoke, impl_->deadline());
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "revoked") return lease::info_from(*answer);
  if (answer->outcome == "free") {
    return Error{.code = Errc::not_found,
                 .message = lock::describe(name) + " is not held, there is nothing to revoke",
                 .current = lease::info_from(*answer)};
  }
  return lease::refusal_from(*answer, lock::describe(name));
}

Result<LeaseInfo> Locks::show(std::string_view name) const {
  if (auto checked = check_name("lock name", name); !checked) return std::move(checked).error();
  auto answer = storage::query_one(*impl_->backend, sql::LockShow{.name = name}, impl_->deadline());
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "not_found") return lease::refusal_from(*answer, lock::describe(name));
  return lease::info_from(*answer);
}

Result<std::vector<LeaseInfo>> Locks::list(const LockFilter& filter) const {
  if (auto checked = check_text("prefix", filter.prefix); !checked) return std::move(checked).error();
  if (auto checked = check_limit(filter.limit); !checked) return std::move(checked).error();
  const sql::LockList list{.prefix = filter.prefix, .only_held = filter.only_held, .most = filter.limit};
  auto answers = storage::query(*impl_->backend, list, impl_->deadline());
  if (!answers) return std::move(answers).error();
  std::vector<LeaseInfo> locks;
  locks.reserve(answers->size());
  for (const auto& answer : *answers) locks.push_back(lease::info_from(answer));
  return locks;
}

Result<HeldLease> Locks::hold(std::string_view name, const AcquireOptions& options) const {
  auto grant = acquire(name, options);
  if (!grant) return std::move(grant).error();
  const auto locks = *this;
  const auto token = grant->token;
  try {
    return HeldLease(
        std::move(*grant), [impl = impl_](const Grant& held) { return impl->keep_alive(held); },
        [locks](const Grant& held) { return locks.release(held.key, held.token); });
  } catch (const std::system_error& error) {
    // Without its thread nobody would keep the lease alive: better not to have it.
    static_cast<void>(release(name, token));
    return Error{.code = Errc::unavailable, .message = std::string("no thread for heartbeats: ") + error.what()};
  }
}

}  // namespace leasehold
