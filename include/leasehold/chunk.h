// A sync that many loaders share, split into chunks. Progress survives kill -9, and a finished sync accounts for
// every chunk.
//
//   auto chunks = store.chunks();
//   auto plan = leasehold::plan_range(1, 1'000'000, 10'000);
//   if (!plan) return report(plan.error());
//   auto planned = chunks.plan("orders", *plan);
//   if (!planned) return report(planned.error());
//
//   for (;;) {
//     auto grant = chunks.claim("orders", {.wait = 1h});
//     if (!grant) return report(grant.error());                            // empty: the whole set is final
//     const auto& chunk = grant->chunks.front();
//     auto rows = chunk.rows;
//     // Continue after the last saved cursor.
//     for (auto page = first_page(chunk.spec, chunk.cursor); !page.end(); page = page.next()) {
//       rows += load(page);
//       auto saved = chunks.heartbeat("orders", chunk.key, chunk.token, {.cursor = page.cursor_json(), .rows = rows});
//       if (!saved) return report(saved.error());                          // lost: another loader continues it
//     }
//     auto done = chunks.complete("orders", chunk.key, chunk.token, {.rows = rows});
//     if (!done) return report(done.error());
//   }
//
// Most programs use loader.h, which claims, heartbeats and completes for them. To load no row twice, save the cursor in
// the same transaction as the rows: see sqlite.h and postgres.h.
//
// `rows` is always the total of the chunk up to the saved cursor, never a difference. So repeating a save is harmless,
// and rows that were loaded but not saved before a crash are not counted twice.
//
// Chunks is a cheap handle: copy it freely, and call its methods from any thread.
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
#include "leasehold/page.h"
#include "leasehold/result.h"

namespace leasehold {

/// Derived from the chunk's row, its lease and the store's clock; never stored.
enum class ChunkState {
  available,  ///< waits for a loader
  deferred,   ///< failed; waits for its backoff
  running,    ///< leased, and the lease has not expired
  expired,    ///< leased, but the lease has expired: the next claim takes it over, from its cursor
  completed,
  skipped,    ///< a loader or an operator decided not to load it
  exhausted,  ///< failed too often, or too many loaders died with it; reset it to try again
};
LEASEHOLD_EXPORT const char* to_string(ChunkState state) noexcept;

enum class ChunkSetState {
  planned,   ///< no chunk was started
  running,   ///< a chunk was started, and not every chunk is final
  complete,  ///< every chunk is completed or skipped
  partial,   ///< every chunk is final, but some are exhausted
};
LEASEHOLD_EXPORT const char* to_string(ChunkSetState state) noexcept;

struct PlannedChunk {
  std::string key;   ///< unique in its set, up to bounds::name_bytes
  std::string spec;  ///< what to load: any JSON, up to bounds::chunk_json_bytes, kept byte for byte
};

/// Splits a range into chunks of `size` numbers: keys "1-10000", specs {"from":1,"to":10000}, both ends included.
LEASEHOLD_EXPORT Result<std::vector<PlannedChunk>> plan_range(std::int64_t first, std::int64_t last, std::int64_t size);

/// Settings of a set. Unset: keep the current value; a new set gets the default named here.
struct ChunkSetSettings {
  std::optional<int> max_failures{};       ///< exhausted after this many failures: defaults::chunk_max_failures
  std::optional<int> max_crashes{};        ///< ... or after this many loaders died: defaults::chunk_max_crashes
  std::optional<Duration> backoff_base{};  ///< after the first failure, then doubled: defaults::chunk_backoff_base
  std::optional<Duration> backoff_max{};   ///< the longest backoff: defaults::chunk_backoff_max
  std::optional<Duration> default_ttl{};   ///< of a claim: defaults::chunk_ttl
};

struct PlanOptions {
  /// A plan with the set's current planner version only adds missing chunks. A plan with another version also replaces
  /// chunks that were not started, and finished chunks whose spec has changed.
  std::string planner = "1";
  ChunkSetSettings settings{};
};

/// What a plan changed.
struct PlanOutcome {
  std::string set;
  bool created = false;  ///< the set is new
  std::int64_t added = 0;
  std::int64_t replaced = 0;  ///< got a new spec: were not started, or were finished
  std::int64_t removed = 0;   ///< no longer in the plan
  std::int64_t kept = 0;
  std::int64_t differing = 0;  ///< has another spec under the same planner version: left unchanged
  std::int64_t left = 0;       ///< being loaded, and differs from the plan: plan again when it is done
  std::int64_t total = 0;      ///< chunks in the set now
  ChunkSetState state = ChunkSetState::planned;
};

struct ChunkClaimOptions {
  std::string key{};              ///< claim this chunk, even during its backoff. Empty: the next one
  int max = 1;                    ///< 1 to bounds::max_claim
  std::optional<Duration> ttl{};  ///< unset: the set's default_ttl
  /// How long to wait for a chunk while the set is not final. Zero: try once. Duration::max(): forever.
  Duration wait{0};
  /// Keep waiting after the set is final: for a reset, for a new plan, or until chunks are old enough for `older_than`.
  bool keep_waiting = false;
  /// When no chunk is open, claim chunks that were completed longer ago than this, and load them from the beginning.
  std::optional<Duration> older_than{};
  /// Makes a repeated call harmless: see AcquireOptions::request_id. Empty: a random id.
  std::string request_id{};
};

struct Chunk {
  std::string set;
  std::string key;
  Token token;
  std::int64_t position = 0;
  std::string spec;
  std::string hash;                     ///< of planner version, key and spec
  std::optional<std::string> cursor{};  ///< the last one saved; none: start from the beginning
  std::int64_t rows = 0;                ///< saved with the cursor
  int attempt = 1;
  std::optional<Holder> previous_holder{};  ///< of the previous attempt
  std::optional<Timestamp> synced_at{};     ///< when it was last completed
};

/// Chunks claimed together, under one lease.
struct ChunkGrant {
  std::vector<Chunk> chunks;
  std::int64_t lease_id = 0;
  Holder holder;
  Duration ttl{};
  Timestamp expires_at{};
  BootTime trusted_until{};
  bool solo = false;  ///< the only chunk of its lease, because a loader died with this one and others
  bool replayed = false;
};

/// How far a loader got. Unset: keep the saved value.
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
  std::int64_t rows = 0;  ///< the saved total
};

/// A verdict on one chunk, with the token that proves the hold.
struct ChunkSettlement {
  std::string set;
  std::string key;
  Token token;
  Verdict verdict{};
};

/// What a verdict did to the chunk and to its set.
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
  /// Exhausted chunks start from the beginning, too, not from their cursor. Completed chunks always do.
  bool from_start = false;
};

LEASEHOLD_EXPORT const char* to_string(ChunkReset::Which which) noexcept;

struct ChunkResetOutcome {
  std::string set;
  std::int64_t reset = 0;
  std::int64_t running = 0;  ///< held, and therefore not reset
  std::int64_t missing = 0;  ///< keys that the set does not have
};

/// A snapshot of one moment.
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
  std::optional<Holder> holder{};  ///< the current holder, or the last one
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
  int max = defaults::list_max;  ///< listed in plan order
  std::string page{};            ///< Page::next of the previous page; empty: the first page
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
  std::optional<JobId> job_id{};  ///< the job that waits for the set: see tie_job()
  int max_failures = defaults::chunk_max_failures;
  int max_crashes = defaults::chunk_max_crashes;
  Duration backoff_base{};
  Duration backoff_max{};
  Duration default_ttl{};
  Timestamp store_now{};

  [[nodiscard]] std::int64_t final_chunks() const { return completed + skipped + exhausted; }
  /// "complete", "running", "partial 40/42 (2 exhausted)".
  [[nodiscard]] std::string summary() const;
};

class LEASEHOLD_EXPORT Chunks {
 public:
  /// Writes 1000 chunks per transaction, so that other callers can write in between. The set cannot become final before
  /// the last of them. Repeating a plan only adds missing chunks: do that after any error. `race`: the set was removed,
  /// or planned with another planner version, during this plan.
  Result<PlanOutcome> plan(std::string_view set, std::span<const PlannedChunk> chunks,
                           const PlanOptions& options = {}) const;
  Result<void> set(std::string_view set, const ChunkSetSettings& settings) const;

  /// Claims chunks under one lease, expired ones first. Refused with `empty` (the set is final; with retry_at: every
  /// open chunk backs off), `held` (every open chunk is being loaded; held_by is the lease that ends first), `busy` or
  /// `not_found`; a claim by key also with `terminal` (the chunk is final; reset it).
  Result<ChunkGrant> claim(std::string_view set, const ChunkClaimOptions& options = {}, const Call& call = {}) const;

  /// Extends the chunk's lease and saves the progress, in one step. Never revives an expired lease: that is `lost`, and
  /// nothing is saved. Without a ttl the lease keeps its own.
  Result<ChunkHeartbeat> heartbeat(std::string_view set, std::string_view key, Token token, const ChunkSave& save = {},
                                   std::optional<Duration> ttl = {}) const;

  /// Ends the caller's hold on a chunk. Accepted after expiry while no other loader has taken the chunk over. The same
  /// verdict again returns the same answer.
  Result<ChunkSettled> settle(const ChunkSettlement& settlement) const;
  /// Returns one answer per settlement, in their order. Up to 64 share a commit.
  std::vector<Result<ChunkSettled>> settle(std::span<const ChunkSettlement> settlements) const;
  /// Shorthands for settle().
  Result<ChunkSettled> complete(std::string_view set, std::string_view key, Token token,
                                const ChunkSave& save = {}) const;
  Result<ChunkSettled> fail(std::string_view set, std::string_view key, Token token, std::string error = {}) const;
  Result<ChunkSettled> release(std::string_view set, std::string_view key, Token token,
                               const ChunkSave& save = {}) const;
  Result<ChunkSettled> skip(std::string_view set, std::string_view key, Token token, std::string reason) const;
  /// For operators: skips a chunk. Refused with `held` while a loader holds it, and with `terminal` when it is final.
  Result<ChunkState> skip(std::string_view set, std::string_view key, std::string_view reason) const;
  Result<ChunkResetOutcome> reset(std::string_view set, const ChunkReset& reset) const;

  /// Ties a job to the set: it completes in the commit that completes the set, and fails in the commit that ends the
  /// set partial. The job waits in its queue, or the caller holds it and passes its token.
  Result<JobState> tie_job(std::string_view set, JobId job, std::optional<Token> token = {}) const;

  Result<ChunkInfo> show(std::string_view set, std::string_view key) const;
  Result<Page<ChunkInfo>> list(std::string_view set, const ChunkFilter& filter = {}) const;
  Result<ChunkSetInfo> progress(std::string_view set) const;
  Result<std::vector<ChunkSetInfo>> sets() const;
  /// Removes a set and its chunks; refused with `held` while a chunk is running. Returns how many chunks it had. The
  /// set is gone at once; the chunks follow in steps. If this call cannot finish, the next remove() or prune does.
  Result<std::int64_t> remove(std::string_view set) const;

  /// Opens one lease for many claims (Call::lease). When it ends, the chunks it still holds go back.
  Result<SharedLease> open_lease(Duration ttl, const Call& call = {}) const;
  Result<SharedLease> extend(const SharedLease& lease, std::optional<Duration> ttl = {}) const;
  Result<void> close(const SharedLease& lease) const;

  /// For the library: only it creates an Impl.
  struct Impl;
  explicit Chunks(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace leasehold
