#include "cli/chunk_run_saver.h"

#include <utility>

#include "base/quiet_thread.h"

namespace leasehold::cli {

void ChunkSaver::put(ChunkReport::Save save) {
  {
    const std::lock_guard lock(mutex_);
    waiting_ = std::move(save);
  }
  changed_.notify_one();
  if (!thread_.joinable()) thread_ = start_quiet_thread([this] { run(); });
}

void ChunkSaver::finish() {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void ChunkSaver::run() {
  while (const auto save = next()) {
    const auto saved = context_.save({.cursor = save->cursor, .rows = save->rows});
    if (!saved) on_failure_(saved.error());
  }
}

std::optional<ChunkReport::Save> ChunkSaver::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return finishing_ || waiting_; });
  return std::exchange(waiting_, std::nullopt);
}

}  // namespace leasehold::cli
