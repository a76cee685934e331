// A sync cut into chunks that many loaders share: progress survives kill -9, and a finished sync means that every chunk
// is accounted for.
//
//   auto chunks = store.chunks();
//   auto plan = leasehold::plan_range(1, 1'000'000, 10'000);
//   if (!plan) return tell(plan.error());
//   auto planned = chunks.plan("orders", *plan);
//   if (!planned) return tell(planned.error());
//
//   for (;;) {
//     auto grant = chunks.claim("orders", {.wait = 1h});
//     if (!grant) return tell(grant.error());                            // empty: the whole set is final
//     const auto& chunk = grant->chunks.front();
//     auto rows = chunk.rows;
//     // From where the last holder got to.
//     for (auto page = first_page(chunk.spec, chunk.cursor); !page.end(); page = page.next()) {
//       rows += load(page);
//       auto saved = chunks.heartbeat("orders", chunk.key, chunk.token, {.cursor = page.cursor_json(), .rows = rows});
//       if (!saved) return tell(saved.error());                          // lost: somebody else goes on with it
//     }
//     auto done = chunks.complete("orders", chunk.key, chunk.token, {.rows = rows});
//     if (!done) return tell(done.error());
//   }
//
// Most programs want loader.h, which claims, heartbeats and completes for them. To save the cursor in the same
// transaction as the rows it stands for, so that not one row is loaded twice, see sqlite.h and postgres.h.
//
// `rows` is always the total of the chunk up to the cursor it is saved with, never a difference: so repeating a save is
// harmless, and what was loaded but not saved before a crash is not counted twice.
//
// Chunks is a cheap handle; it may be copied, and every method may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/call.h"
#include "leasehold/export.h"
#include "leasehold/job.h"
#include "leasehold/lease.h"
#include "leasehold/limits.h"
#include "leasehold/result.h"

namespace leasehold {

/// Derived from the chunk's row, its lease and the store's clock, never stored.
enum class ChunkState {
  available,  ///< waits for a loader
  deferred,   ///< failed, and waits for its backoff
  running,    ///< leased, and the lease has not run out
  expired,    ///< leased, but the loader went silent: the next claim takes it, from its cursor
  completed,
  skipped,    ///< somebody decided it need not be loaded
  exhausted,  ///< failed or killed its loaders too often; reset it to try again
};
LEASEHOLD_EXPORT const char* to_string(ChunkState state) noexcept;

enum class ChunkSetState {
  planned,   ///< nothing was started
  running,   ///< something was started, something is open
  complete,  ///< every chunk is completed or skipped
  partial,   ///< every chunk is final, but some are exhausted
};
LEASEHOLD_EXPORT const char* to_string(ChunkSetState state) noexcept;

struct PlannedChunk {
  std::string key;   ///< unique in its set, up to bounds::name_bytes
  std::string spec;  ///< what to load: any JSON, up to bounds::chunk_json_bytes, kept byte for byte
};

/// Chunks of `size` numbers each: keys "1-10000", specs {"from":1,"to":10000}, both ends included.
LEASEHOLD_EXPORT Result<std::vector<PlannedChunk>> plan_range(std::int64_t first, std::int64_t last, std::int64_t size);

/// What a set is told. Unset: stays as it is; of a new set: as said here.
struct ChunkSetSettings {
  std::optional<int> failure_budget{};  ///< so many failures, and a chunk is exhausted: defaults::chunk_failure_budget
  std::optional<int> crash_budget{};    ///< the same for loaders that died with it: defaults::chunk_crash_budget
  std::optional<Duration> backoff_base{};  ///< after the first failure: defaults::chunk_backoff_base, doubling
  std::optional<Duration> backoff_most{};  ///< up to this: defaults::chunk_backoff_most
  std::optional<Duration> default_ttl{};   ///< defaults::chunk_ttl
};

struct PlanOptions {
  /// A plan under the version the set has only adds what is missing. Under another one it replaces what has not been
  /// started, and what is finished but has changed.
  std::string planner = "1";
  ChunkSetSettings settings{};
};

/// What a plan has changed.
struct PlanOutcome {
  std::string set;
  bool created = false;  ///< the set is new
  std::int64_t added = 0;
  std::int64_t replaced = 0;  ///< not started, or finished, and with another spec now
  std::int64_t removed = 0;   ///< not in the plan any more
  std::int64_t kept = 0;
  std::int64_t differing = 0;  ///< another spec under the same planner version: stayed as it was
  std::int64_t left = 0;       ///< in the middle of being loaded and not as planned now: plan again when it is done
  std::int64_t total = 0;      ///< chunks in the set now
  ChunkSetState state = ChunkSetState::planned;
};

struct ChunkClaimOptions {
  std::string key{};              ///< this one, also while it backs off. Empty: the next
  int max = 1;                    ///< 1 to bounds::max_claim
  std::optional<Duration> ttl{};  ///< unset: the set's own
  /// How long to wait for a chunk while the set is not final. Zero: ask once. Duration::max(): for ever.
  Duration wait{0};
  /// Waits after the set is final, too: for a reset, a new plan, or for chunks to get old.
  bool keep_waiting = false;
  /// When nothing is open: load again what was completed longer ago than this, from its beginning.
  std::optional<Duration> older_than{};
  /// Makes repeating harmless, as with locks. Drawn at random when empty.
  std::string request_id{};
};

struct Chunk {
  std::string set;
  std::string key;
  Token token;
  std::int64_t position = 0;
  std::string spec;
  std::string hash;                     ///< of planner version, key and spec
  std::optional<std::string> cursor{};  ///< the last one saved; none: from the beginning
  std::int64_t rows = 0;                ///< saved with it
  int attempt = 1;
  std::string previous_holder;  ///< who had it before, if anybody
  std::string previous_host;
  std::optional<Timestamp> synced_at{};  ///< when it was last completed
};

/// Chunks claimed together: one lease.
struct ChunkGrant {
  std::vector<Chunk> chunks;
  std::int64_t lease_id = 0;
  Holder holder;
  Duration ttl{};
  Timestamp expires_at{};
  BootTime trusted_until{};
  bool alone = false;  ///< under a lease of its own: it was among several whose loader died
  bool replayed = false;
};

/// How far a loader got. Unset: stays as it was saved.
struct ChunkSave {
  std::optional<std::string> cursor{};  ///< any JSON, up to bounds::chunk_json_bytes
  std::optional<std::int64_t> rows{};   ///< total of the chunk up to this cursor
};

struct ChunkHeartbeat {
  std::string set;
  std::string key;
  Duration ttl{};
  Timestamp expires_at{};
  BootTime trusted_until{};
  std::int64_t rows = 0;  ///< as saved now
};

/// A verdict on one chunk, with the proof that the caller holds it.
struct ChunkSettlement {
  std::string set;
  std::string key;
  Token token;
  Verdict verdict{};
};

/// What a verdict did to the chunk, and to its set.
struct ChunkSettled {
  std::string set;
  std::string key;
  ChunkState state = ChunkState::completed;
  std::optional<Timestamp> due_at{};
  ChunkSetState set_state = ChunkSetState::running;
  bool replayed = false;
};

struct ChunkReset {
  enum class Which { failed, older, keys, all };
  Which which = Which::failed;
  std::vector<std::string> keys{};
  Duration older_than{0};
  /// Exhausted ones, too, begin anew. Otherwise they go on from their cursor; completed ones always begin anew.
  bool from_start = false;
};

LEASEHOLD_EXPORT const char* to_string(ChunkReset::Which which) noexcept;

struct ChunkResetOutcome {
  std::string set;
  std::int64_t reset = 0;
  std::int64_t running = 0;  ///< held, and left alone
  std::int64_t missing = 0;  ///< keys the set does not have
};

/// A picture of one moment.
struct ChunkInfo {
  std::string set;
  std::string key;
  std::int64_t position = 0;
  ChunkState state = ChunkState::available;
  std::string planner;
  std::string hash;
  Token token;
  int attempts = 0;
  int failures = 0;
  int crashes = 0;
  std::optional<Timestamp> due_at{};
  std::optional<Timestamp> started_at{};
  std::optional<Timestamp> finished_at{};
  std::optional<Timestamp> synced_at{};
  std::optional<Timestamp> saved_at{};
  std::int64_t rows = 0;
  std::string holder;  ///< who has it, or had it last
  std::string host;
  std::int64_t pid = 0;
  std::string tty;
  std::optional<Timestamp> heartbeat_at{};
  std::optional<Timestamp> expires_at{};
  std::string spec;
  std::optional<std::string> cursor{};
  std::string error;
  std::string note;  ///< why it was skipped
  Timestamp store_now{};
};

struct ChunkFilter {
  std::optional<ChunkState> state{};
  std::int64_t after_position = -1;
  int limit = defaults::list_limit;
};

struct LEASEHOLD_EXPORT ChunkSetInfo {
  std::string name;
  ChunkSetState state = ChunkSetState::planned;
  std::string planner;
  Timestamp planned_at{};
  std::int64_t total = 0;
  std::int64_t available = 0;
  std::int64_t deferred = 0;
  std::int64_t running = 0;
  std::int64_t expired = 0;
  std::int64_t completed = 0;
  std::int64_t skipped = 0;
  std::int64_t exhausted = 0;
  std::int64_t rows = 0;
  std::int64_t attempts = 0;
  std::optional<Timestamp> started_at{};
  std::optional<Timestamp> finished_at{};
  std::optional<Timestamp> oldest_sync{};
  std::optional<JobId> job_id{};  ///< the job that waits for it
  int failure_budget = defaults::chunk_failure_budget;
  int crash_budget = defaults::chunk_crash_budget;
  Duration backoff_base{};
  Duration backoff_most{};
  Duration default_ttl{};
  Timestamp store_now{};

  [[nodiscard]] std::int64_t final_chunks() const { return completed + skipped + exhausted; }
  /// "complete", "running", "partial 40/42 (2 exhausted)".
  [[nodiscard]] std::string summary() const;
};

class LEASEHOLD_EXPORT Chunks {
 public:
  /// A thousand chunks per transaction, so that others can write in between. The set is not final before the last of
  /// them. Planning the same again only adds what is missing, so that is what to do after any error. `race`: the set
  /// was removed, or planned with another planner version, in the middle of this plan.
  Result<PlanOutcome> plan(std::string_view set, std::span<const PlannedChunk> chunks,
                           const PlanOptions& options = {}) const;
  Result<void> configure(std::string_view set, const ChunkSetSettings& settings) const;

  /// Takes chunks under one lease; expired ones of others first. Refused with `empty` (the set is final, or with
  /// retry_at: all that is open backs off), `held` (all that is open is being loaded; current: whose lease ends first),
  /// `busy`, `not_found`; by key also with `terminal` (it is final; reset it).
  Result<ChunkGrant> claim(std::string_view set, const ChunkClaimOptions& options = {}, const Call& call = {}) const;

  /// Extends the lease the chunk is held under and saves how far it got, in one step. Never revives an expired lease:
  /// `lost`, and nothing is saved. Without a ttl the lease keeps its own.
  Result<ChunkHeartbeat> heartbeat(std::string_view set, std::string_view key, Token token, const ChunkSave& save = {},
                                   std::optional<Duration> ttl = {}) const;

  /// Ends the caller's hold on a chunk. Accepted after expiry while no other loader has taken the chunk over; the same
  /// verdict again gives the same answer.
  Result<ChunkSettled> settle(const ChunkSettlement& settlement) const;
  /// Each its own answer, in the order of the settlements; one commit for up to 64.
  std::vector<Result<ChunkSettled>> settle(std::span<const ChunkSettlement> settlements) const;
  /// Short for settle().
  Result<ChunkSettled> complete(std::string_view set, std::string_view key, Token token,
                                const ChunkSave& save = {}) const;
  Result<ChunkSettled> fail(std::string_view set, std::string_view key, Token token, std::string error = {}) const;
  Result<ChunkSettled> release(std::string_view set, std::string_view key, Token token,
                               const ChunkSave& save = {}) const;
  Result<ChunkSettled> skip(std::string_view set, std::string_view key, Token token, std::string reason) const;
  /// An operator's: of a chunk that nobody holds (`held`) and that is not final (`terminal`).
  Result<ChunkState> skip(std::string_view set, std::string_view key, std::string_view reason) const;
  Result<ChunkResetOutcome> reset(std::string_view set, const ChunkReset& reset) const;

  /// Lets a job wait for the set: it completes when the set is complete, and fails when it ends partial, in the same
  /// commit. The job waits in its queue, or is held by the caller: then its token is needed.
  Result<JobState> tie_job(std::string_view set, JobId job, std::optional<Token> token = {}) const;

  Result<ChunkInfo> show(std::string_view set, std::string_view key) const;
  Result<std::vector<ChunkInfo>> list(std::string_view set, const ChunkFilter& filter = {}) const;
  Result<ChunkSetInfo> progress(std::string_view set) const;
  Result<std::vector<ChunkSetInfo>> sets() const;
  /// Forgets a set and its chunks; refused with `held` while one is running. Gives how many chunks it had. The set is
  /// gone at once; many chunks follow in steps, which the next remove() or prune finishes if this one cannot.
  Result<std::int64_t> remove(std::string_view set) const;

  /// One lease for many claims (Call::lease). What it still holds when it ends goes back.
  Result<SharedLease> open_lease(Duration ttl, const Call& call = {}) const;
  Result<SharedLease> extend(const SharedLease& lease, std::optional<Duration> ttl = {}) const;
  Result<void> close(const SharedLease& lease) const;

  /// For the library: nobody else has an Impl.
  struct Impl;
  explicit Chunks(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace leasehold
