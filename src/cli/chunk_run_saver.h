// Saves how far a chunk's command got, on a thread of its own: a store that is slow or away must not keep anybody from
// watching over the command. Of several that wait, the latest is saved.
//
// put() and finish() belong to one thread.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "cli/chunk_run_report.h"
#include "leasehold/loader.h"

namespace leasehold::cli {

class ChunkSaver {
 public:
  /// Told of what could not be saved.
  using OnFailure = std::function<void(const Error&)>;

  ChunkSaver(ChunkContext& context, OnFailure on_failure) : context_(context), on_failure_(std::move(on_failure)) {}
  ChunkSaver(const ChunkSaver&) = delete;
  ChunkSaver& operator=(const ChunkSaver&) = delete;
  ~ChunkSaver() { finish(); }

  void put(ChunkReport::Save save);
  /// Returns when the latest is saved, or cannot be.
  void finish();

 private:
  void run();
  std::optional<ChunkReport::Save> next();

  ChunkContext& context_;
  const OnFailure on_failure_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<ChunkReport::Save> waiting_;
  bool finishing_ = false;
  /// Started with the first save: many a command has none.
  std::thread thread_;
};

}  // namespace leasehold::cli
