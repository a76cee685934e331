// The runtime for loaders: claims chunks, heartbeats them, saves how far they got, and tells handlers when to stop.
//
//   leasehold::Loader loader(*store, "orders", {.concurrency = 4});
//   auto summary = loader.run([](const Chunk& chunk, ChunkContext& context) -> Verdict {
//     auto rows = chunk.rows;
//     for (auto page = first_page(chunk.spec, chunk.cursor); !page.end(); page = page.next()) {
//       if (context.stop_requested()) return Verdict::release();  // no longer ours, or the loader ends
//       rows += load(page);
//       auto saved = context.save({.cursor = page.cursor_json(), .rows = rows});
//       if (!saved) return Verdict::release();
//     }
//     return Verdict::complete().with_rows(rows);
//   });
//   if (!summary) return tell(summary.error());
//
// One lease for all: the loader heartbeats one row, however many chunks it holds. While the store is away running
// handlers go on for as long as the lease can be trusted; saves and verdicts are repeated.
//
// At least once: a chunk whose loader died is loaded again from its last saved cursor. Handlers must be able to load a
// page twice, or save the cursor in the transaction that writes the rows (postgres.h, sqlite.h).
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

/// What a running handler may ask and tell. Lives as long as the call; every method may be called from any thread.
class LEASEHOLD_EXPORT ChunkContext {
 public:
  /// Fires when the handler must stop: at the latest when the lease can no longer be trusted. Callbacks on it must be
  /// quick.
  [[nodiscard]] std::stop_token stop_token() const;
  [[nodiscard]] bool stop_requested() const;
  /// Why; nothing while the handler may go on.
  [[nodiscard]] std::optional<StopReason> stop_reason() const;
  [[nodiscard]] BootTime trusted_until() const;

  /// Saves cursor and rows now, and returns when they are durable. `lost`: nothing was saved, stop. Asked again by
  /// itself while the store is away, up to trusted_until().
  Result<ChunkHeartbeat> save(const ChunkSave& save);

  /// The runtime makes these.
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
  int concurrency = 1;  ///< so many chunks at once: 1 to bounds::max_concurrency
  /// Heartbeats are a quarter of it apart. Unset: the set's own.
  std::optional<Duration> ttl{};
  Duration grace = defaults::handler_grace;  ///< how long running handlers get when the loader is stopped
  /// Go on with what was completed longer ago than this.
  std::optional<Duration> older_than{};
  /// Goes on after the set is final: waits for a reset, a new plan, or for chunks to get old.
  bool keep_waiting = false;
  /// Ends after one chunk, or when there is none to be had now.
  bool once = false;
  std::optional<Holder> holder{};  ///< default: Holder::self()
  /// Told of calls that failed and will be repeated, and of verdicts that came too late. From any thread; must be quick
  /// and not throw.
  std::function<void(const Error&)> on_trouble{};
};

/// What became of the chunks a loader claimed, and of the set.
struct LoadSummary {
  std::int64_t claimed = 0;
  std::int64_t completed = 0;
  std::int64_t failed = 0;
  std::int64_t released = 0;
  std::int64_t skipped = 0;
  std::int64_t lost = 0;  ///< somebody else's now, or nobody could be told
  /// Why it claimed nothing more, where it ended by itself: `empty`, with `once` also `held`.
  std::optional<Error> refusal{};
  /// As it was when the loader ended. Nothing: the store could not be asked.
  std::optional<ChunkSetInfo> set{};
};

class LEASEHOLD_EXPORT Loader {
 public:
  Loader(const Store& store, std::string set, LoaderOptions options = {});
  Loader(Loader&&) noexcept;
  Loader& operator=(Loader&&) noexcept;
  ~Loader();

  /// Loads until the set is final or until told to stop; then running handlers get `grace` to finish, then their stop
  /// tokens fire, and what is not finished a sixth of the ttl later goes back with its cursor. Returns when every
  /// handler has returned; one that ignores its stop token holds it up.
  ///
  /// An error is one that asking again does not mend (`not_found`, `denied`, `schema_missing` ...); store outages are
  /// waited for. Not by two threads at once.
  Result<LoadSummary> run(const ChunkHandler& handler, std::stop_token stop = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace leasehold
