#include "runtime/loader/source.h"

#include <utility>

#include "model/errors.h"

namespace leasehold::loader {
namespace {

constexpr Duration longest_wait = std::chrono::hours(1);

}  // namespace

ChunksSource::ChunksSource(const Store& store, std::string set, Holder holder, const LoaderOptions& options)
    : chunks_(store.chunks()),
      set_(std::move(set)),
      holder_(std::move(holder)),
      ttl_(options.ttl),
      older_than_(options.older_than),
      keep_waiting_(options.keep_waiting) {}

Result<SharedLease> ChunksSource::open_lease() {
  if (ttl_ != Duration(0)) return chunks_.open_lease(holder_, ttl_);
  const auto set = progress();
  if (!set) return set.error();
  return chunks_.open_lease(holder_, set->default_ttl);
}

Result<ChunkGrant> ChunksSource::claim(const SharedLease& lease, Patience patience, const std::stop_token& stop) {
  ChunkClaimOptions options{
      .keep_waiting = keep_waiting_, .stop = stop, .older_than = older_than_, .holder = holder_, .attach = lease};
  auto grant = chunks_.claim(set_, options);
  const bool goes_on = !grant && may_wait(grant.error().code) && !stop.stop_requested();
  if (patience == Patience::ask_once || !goes_on) return grant;
  // Only now: a claim that waits sets up more than one that does not, and most of the time there is a chunk.
  options.wait = longest_wait;
  return chunks_.claim(set_, options);
}

Result<ChunkHeartbeat> ChunksSource::heartbeat(const Chunk& chunk, const ChunkSave& save) {
  return chunks_.heartbeat(set_, chunk.key, chunk.token, save);
}

Result<ChunkSettled> ChunksSource::settle(const Chunk& chunk, const ChunkVerdict& verdict) {
  switch (verdict.kind) {
    case ChunkVerdict::Kind::complete: return chunks_.complete(set_, chunk.key, chunk.token, {.rows = verdict.rows});
    case ChunkVerdict::Kind::fail:
      return chunks_.fail(set_, chunk.key, chunk.token,
                          {.error = verdict.text, .retryable = verdict.retryable, .delay = verdict.delay});
    case ChunkVerdict::Kind::release: return chunks_.release(set_, chunk.key, chunk.token);
    case ChunkVerdict::Kind::skip: break;
  }
  return chunks_.skip(set_, chunk.key, chunk.token, verdict.text);
}

}  // namespace leasehold::loader
