#include "chunk/claim.h"

#include "chunk/answer.h"
#include "core/limits.h"
#include "lease/retry.h"
#include "lease/with_holder.h"
#include "storage/query.h"

namespace leasehold::chunk {
namespace {

using Rows = std::vector<sql::ChunkClaimed>;

sql::ChunkClaim statement_for(const Wish& wish) {
  sql::ChunkClaim claim{.set_name = wish.set, .most = wish.most, .ttl = wish.ttl, .older_than = wish.older_than};
  if (!wish.key.empty()) claim.key = wish.key;
  claim.request_id = wish.request_id;
  claim.attach = wish.attach;
  return lease::with_holder(claim, wish.holder);
}

Chunk chunk_from(sql::ChunkClaimed& row, const std::string& set) {
  return {.set = set,
          .key = std::move(row.key).value_or(""),
          .token = {row.token.value_or(0)},
          .position = row.position.value_or(0),
          .spec = std::move(row.spec).value_or(""),
          .hash = std::move(row.hash).value_or(""),
          .cursor = std::move(row.cursor),
          .rows = row.rows.value_or(0),
          .attempt = static_cast<int>(row.attempt.value_or(1)),
          .previous_holder = std::move(row.previous_holder).value_or(""),
          .previous_host = std::move(row.previous_host).value_or(""),
          .synced_at = row.synced_at};
}

ChunkGrant grant_from(Rows& rows, const Wish& wish, BootTime before_sending) {
  const auto& first = rows.front();
  ChunkGrant grant;
  grant.lease_id = first.lease_id.value_or(0);
  grant.holder = wish.holder;
  grant.ttl = first.ttl.value_or(Duration{});
  grant.expires_at = first.expires_at.value_or(Timestamp{});
  grant.trusted_until = trusted_until(before_sending, grant.ttl, grant.expires_at - first.store_now);
  grant.alone = first.alone;
  grant.replayed = first.replayed;
  grant.chunks.reserve(rows.size());
  for (auto& row : rows) grant.chunks.push_back(chunk_from(row, wish.set));
  return grant;
}

/// What is attached has no request id of its own: if the answer is lost, asking again would take further chunks, and
/// those of the first answer stay under the lease until it ends.
template <typename Ask>
Result<Rows> ask(const Wish& wish, BootTime deadline, Ask&& once) {
  return wish.attach ? lease::ask_until_free(deadline, once) : lease::ask_again(deadline, once);
}

}  // namespace

Result<ChunkGrant> try_claim(storage::Backend& backend, const Wish& wish, BootTime deadline) {
  const auto claim = statement_for(wish);
  BootTime before_sending;
  auto rows = ask(wish, deadline, [&] {
    before_sending = BootClock::now();
    return storage::query(backend, claim, deadline);
  });
  if (!rows) return std::move(rows).error();
  if (rows->empty()) return odd_answer(describe(wish.set), "nothing");
  if (rows->front().outcome != "granted") return claim_refusal(rows->front(), wish.set, wish.key);
  return grant_from(*rows, wish, before_sending);
}

}  // namespace leasehold::chunk
