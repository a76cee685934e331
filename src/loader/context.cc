// What handlers see and say.
#include <utility>

#include "leasehold/loader.h"
#include "loader/task.h"

namespace leasehold {

ChunkVerdict ChunkVerdict::complete(std::optional<std::int64_t> rows) { return {.kind = Kind::complete, .rows = rows}; }

ChunkVerdict ChunkVerdict::fail(std::string error) { return {.kind = Kind::fail, .text = std::move(error)}; }

ChunkVerdict ChunkVerdict::fail_for_good(std::string error) {
  return {.kind = Kind::fail, .text = std::move(error), .retryable = false};
}

ChunkVerdict ChunkVerdict::retry_in(Duration delay, std::string error) {
  return {.kind = Kind::fail, .text = std::move(error), .delay = delay};
}

ChunkVerdict ChunkVerdict::release() { return {.kind = Kind::release}; }

ChunkVerdict ChunkVerdict::skip(std::string reason) { return {.kind = Kind::skip, .text = std::move(reason)}; }

ChunkContext::ChunkContext(std::shared_ptr<loader::Task> task) : task_(std::move(task)) {}

ChunkContext::~ChunkContext() = default;

std::stop_token ChunkContext::stop_token() const { return task_->stop.token(); }

bool ChunkContext::stop_requested() const { return task_->stop.reason().has_value(); }

std::optional<StopReason> ChunkContext::stop_reason() const { return task_->stop.reason(); }

BootTime ChunkContext::trusted_until() const { return task_->lease->live->trusted_until(); }

Result<ChunkHeartbeat> ChunkContext::save(const ChunkSave& save) { return task_->save(save); }

}  // namespace leasehold
