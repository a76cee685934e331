#include "lock/attempt.h"

#include "base/text.h"
#include "lease/answer.h"
#include "lease/retry.h"
#include "lease/with_holder.h"
#include "storage/query.h"

namespace leasehold::lock {
namespace {

constexpr std::int64_t most_looked_at = 1000;

Result<sql::LeaseAnswer> ask(storage::Backend& backend, const Wish& wish, BootTime deadline) {
  if (wish.names.size() > 1) {
    const std::vector<std::string_view> names(wish.names.begin(), wish.names.end());
    const sql::LockAcquireAll all{.names = names, .ttl = wish.ttl, .delay = wish.delay, .request_id = wish.request_id};
    return storage::query_one(backend, lease::with_holder(all, wish.holder), deadline);
  }
  const auto& name = wish.names.front();
  if (wish.share) {
    const sql::LockShare share{.name = name,
                               .permits = wish.share->permits,
                               .capacity = wish.share->capacity,
                               .ttl = wish.ttl,
                               .delay = wish.delay,
                               .request_id = wish.request_id};
    return storage::query_one(backend, lease::with_holder(share, wish.holder), deadline);
  }
  const sql::LockAcquire acquire{.name = name, .ttl = wish.ttl, .delay = wish.delay, .request_id = wish.request_id};
  return storage::query_one(backend, lease::with_holder(acquire, wish.holder), deadline);
}

}  // namespace

std::string describe(std::string_view name) { return "lock " + quoted(name); }

// The refusal says until when, if the store can still be asked. Others may be alive beside the grant that is in its
// delay, so that is looked for by its token.
Error refusal_with_delay(storage::Backend& backend, const sql::LeaseAnswer& answer, BootTime deadline) {
  auto error = lease::refusal_from(answer, describe(answer.key));
  if (answer.why != "delayed") return error;
  const auto holders = storage::query(backend, sql::LockHolders{.name = answer.key, .most = most_looked_at}, deadline);
  if (!holders) return error;
  for (const auto& holder : *holders) {
    if (holder.token != answer.token) continue;
    error.retry_at = holder.free_at;
    error.retry_in = holder.free_at - holder.store_now;
  }
  return error;
}

Result<Grant> try_acquire(storage::Backend& backend, const Wish& wish, BootTime deadline) {
  BootTime before_sending;
  auto answer = lease::ask_again(deadline, [&] {
    before_sending = BootClock::now();
    return ask(backend, wish, deadline);
  });
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "granted") return lease::grant_from(*answer, before_sending);
  return refusal_with_delay(backend, *answer, deadline);
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
