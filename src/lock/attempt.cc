#include "lock/attempt.h"

#include "base/text.h"
#include "lease/answer.h"
#include "lease/retry.h"
#include "lease/with_holder.h"
#include "storage/query.h"

namespace leasehold::lock {
std::string describe(std::string_view name) { return "lock " + quoted(name); }

Result<Grant> try_acquire(storage::Backend& backend, const Wish& wish, BootTime deadline) {
  const auto acquire = lease::with_holder(
      sql::LockAcquire{.name = wish.name, .ttl = wish.ttl, .request_id = wish.request_id}, wish.holder);
  BootTime before_sending;
  auto answer = lease::ask_again(deadline, [&] {
    before_sending = BootClock::now();
    return storage::query_one(backend, acquire, deadline);
  });
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "granted") return lease::grant_from(*answer, before_sending);
  return lease::refusal_from(*answer, describe(wish.name));
}

Result<Grant> heartbeat(storage::Backend& backend, std::string_view name, Token token, std::optional<Duration> ttl,
                        BootTime deadline) {
  BootTime before_sending;
  auto answer = lease::ask_again(deadline, [&] {
    before_sending = BootClock::now();
    const sql::LockHeartbeat statement{.name = name, .token = token.value, .ttl = ttl};
    return storage::query_one(backend, statement, deadline);
  });
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "extended") return lease::grant_from(*answer, before_sending);
  return lease::refusal_from(*answer, describe(name));
}

}  // namespace leasehold::lock
