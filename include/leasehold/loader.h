// The runtime for loaders: claims chunks, heartbeats them, saves their progress, and tells handlers when to stop.
//
//   leasehold::Loader loader(*store, "orders", {.concurrency = 4});
//   auto summary = loader.run([](const Chunk& chunk, ChunkContext& context) -> Verdict {
//     auto rows = chunk.rows;
//     for (auto page = first_page(chunk.spec, chunk.cursor); !page.end(); page = page.next()) {
//       if (context.stop_requested()) return Verdict::release();  // lost, or the loader is stopping
//       rows += load(page);
//       auto saved = context.save({.cursor = page.cursor_json(), .rows = rows});
//       if (!saved) return Verdict::release();
//     }
//     return Verdict::complete().with_rows(rows);
//   });
//   if (!summary) return report(summary.error());
//
// One lease for all: the loader heartbeats one row, however many chunks it holds. During a store outage, running
// handlers continue for as long as the lease can be trusted, and saves and verdicts are retried.
//
// At least once: if a loader dies, its chunks are loaded again from the last saved cursor. Handlers must be able to
// load a page twice, or save the cursor in the transaction that writes the rows (postgres.h, sqlite.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "leasehold/chunk.h"
#include "leasehold/export.h"
#include "leasehold/limits.h"
#include "leasehold/result.h"
#include "leasehold/store.h"
#include "leasehold/worker.h"

namespace leasehold {

namespace loader {
class Task;
}  // namespace loader

/// What a handler can do while it runs. Valid during the call of the handler; call its methods from any thread.
class LEASEHOLD_EXPORT ChunkContext {
 public:
  /// Fires when the handler must stop, at the latest when the lease can no longer be trusted. Callbacks must be quick.
  [[nodiscard]] std::stop_token stop_token() const;
  [[nodiscard]] bool stop_requested() const;
  /// Why the stop token fired; nothing while the handler may continue.
  [[nodiscard]] std::optional<StopReason> stop_reason() const;
  [[nodiscard]] BootTime trusted_until() const;

  /// Saves cursor and rows, and returns when they are durable. `lost`: nothing was saved; stop. During a store outage
  /// it retries by itself, up to trusted_until().
  Result<ChunkHeartbeat> save(const ChunkSave& save);

  /// For the runtime: only it creates these.
  explicit ChunkContext(std::shared_ptr<loader::Task> task);
  ChunkContext(const ChunkContext&) = delete;
  ChunkContext& operator=(const ChunkContext&) = delete;
  ~ChunkContext();

 private:
  std::shared_ptr<loader::Task> task_;
};

/// Called from several threads at once, one chunk each.
/// An exception counts as Verdict::fail(what()).
using ChunkHandler = std::function<Verdict(const Chunk& chunk, ChunkContext& context)>;

struct LoaderOptions {
  int concurrency = 1;  ///< chunks loaded at once: 1 to bounds::max_concurrency
  /// Heartbeats come every quarter of it. Unset: the set's default_ttl.
  std::optional<Duration> ttl{};
  Duration grace = defaults::handler_grace;  ///< time for running handlers after a stop
  /// Also load chunks again that were completed longer ago than this.
  std::optional<Duration> older_than{};
  /// Continue after the set is final: wait for a reset, a new plan, or chunks that are old enough for `older_than`.
  bool keep_waiting = false;
  /// End after one chunk, or if no chunk can be claimed now.
  bool once = false;
  std::optional<Holder> holder{};  ///< unset: Holder::self()
  /// Receives errors of calls that will be retried, and of verdicts that came too late. Called from any thread; must be
  /// quick and must not throw.
  std::function<void(const Error&)> on_trouble{};
};

/// What happened to the chunks that a loader claimed, and to the set.
struct LoadSummary {
  std::int64_t claimed = 0;
  std::int64_t completed = 0;
  std::int64_t failed = 0;
  std::int64_t released = 0;
  std::int64_t skipped = 0;
  std::int64_t lost = 0;  ///< taken over by another loader, or the verdict did not reach the store
  /// Why it claimed no more, if it ended by itself: `empty`, with `once` also `held`.
  std::optional<Error> refusal{};
  /// The set when the loader ended. Unset: the store could not be reached.
  std::optional<ChunkSetInfo> set{};
};

class LEASEHOLD_EXPORT Loader {
 public:
  Loader(const Store& store, std::string set, LoaderOptions options = {});
  Loader(Loader&&) noexcept;
  Loader& operator=(Loader&&) noexcept;
  ~Loader();

  /// Loads until the set is final or `stop` is requested. After a stop, running handlers get `grace` to finish, then
  /// their stop tokens fire, and chunks that are unfinished a sixth of the ttl later go back with their cursors.
  /// Returns when every handler has returned: one that ignores its stop token delays it.
  ///
  /// Returns an error only if a retry cannot help (`not_found`, `denied`, `schema_missing` ...); it waits for the end
  /// of store outages. Only one thread may call it at a time.
  Result<LoadSummary> run(const ChunkHandler& handler, std::stop_token stop = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace leasehold
