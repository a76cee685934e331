#include "runtime/loader/task.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "leasehold/loader.h"
#include "runtime/shared.h"

namespace leasehold {

namespace loader {
namespace {

Error too_late(const char* what) {
  return {.code = Errc::lost, .message = std::string("the lease was lost before ") + what + " was written"};
}

}  // namespace

BootTime Task::patience_ends() const { return lease->live->lost() ? BootTime() : lease->live->trusted_until(); }

Result<ChunkHeartbeat> Task::save(const ChunkSave& save) {
  if (lease->live->lost()) return too_late("the cursor");
  auto saved =
      worker::insist([&] { return source_.heartbeat(chunk, save); }, [this] { return patience_ends(); }, report_);
  if (saved) {
    lease->live->trust(saved->trusted_until);
  } else if (saved.error().code == Errc::lost) {
    stop.raise(StopReason::lost);
  }
  return saved;
}

Result<ChunkSettled> Task::settle(const Verdict& verdict) {
  if (lease->live->lost()) return too_late("the verdict");
  return worker::insist([&] { return source_.settle(chunk, verdict); }, [this] { return patience_ends(); }, report_);
}

}  // namespace loader

// The handler's interface.
ChunkContext::ChunkContext(std::shared_ptr<loader::Task> task) : task_(std::move(task)) {}

ChunkContext::~ChunkContext() = default;

std::stop_token ChunkContext::stop_token() const { return task_->stop.token(); }

bool ChunkContext::stop_requested() const { return task_->stop.reason().has_value(); }

std::optional<StopReason> ChunkContext::stop_reason() const { return task_->stop.reason(); }

BootTime ChunkContext::trusted_until() const { return task_->lease->live->trusted_until(); }

Result<ChunkHeartbeat> ChunkContext::save(const ChunkSave& save) { return task_->save(save); }

}  // namespace leasehold
