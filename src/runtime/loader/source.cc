#include "runtime/loader/source.h"

#include <utility>

#include "model/errors.h"
#include "store/store.h"

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
      keep_waiting_(options.keep_waiting),
      housekeeper_(store.impl().housekeeper) {}

Result<SharedLease> ChunksSource::open_lease() {
  if (ttl_) return chunks_.open_lease(*ttl_, {.holder = holder_});
  const auto set = progress();
  if (!set) return set.error();
  return chunks_.open_lease(set->default_ttl, {.holder = holder_});
}

Result<ChunkGrant> ChunksSource::claim(const SharedLease& lease, Patience patience, const std::stop_token& stop) {
  ChunkClaimOptions options{.keep_waiting = keep_waiting_, .older_than = older_than_};
  const Call call{.holder = holder_, .stop = stop, .lease = lease};
  auto grant = chunks_.claim(set_, options, call);
  const bool goes_on = !grant && may_wait(grant.error().code) && !stop.stop_requested();
  if (patience == Patience::ask_once || !goes_on) return grant;
  // Only now: a claim that waits sets up more than one that does not, and most of the time there is a chunk.
  options.wait = longest_wait;
  housekeeper_->when_idle();
  return chunks_.claim(set_, options, call);
}

Result<ChunkHeartbeat> ChunksSource::heartbeat(const Chunk& chunk, const ChunkSave& save) {
  return chunks_.heartbeat(set_, chunk.key, chunk.token, save);
}

Result<ChunkSettled> ChunksSource::settle(const Chunk& chunk, const Verdict& verdict) {
  return chunks_.settle({set_, chunk.key, chunk.token, verdict});
}

}  // namespace leasehold::loader
