#include "storage/sqlite/writer.h"

#include "storage/boot_wait.h"

namespace leasehold::sqlite {
namespace {

std::string gate_path(const std::string& path) { return path == ":memory:" ? "" : path + "-gate"; }

}  // namespace

Writer::Writer(std::unique_ptr<Connection> connection, const std::string& path, const Clock& clock,
               std::shared_ptr<ChangeHub> hub)
    : connection_(std::move(connection)), gate_(gate_path(path)), clock_(clock), hub_(std::move(hub)) {}

Result<Writer::Turn> Writer::begin(bool urgent, BootTime deadline) {
  if (!take(deadline)) {
    return Error{.code = Errc::busy, .message = "another thread is writing for too long; try again"};
  }
  gate_.enter(urgent, deadline);
  connection_->be_patient_until(deadline);
  if (auto begun = connection_->begin_immediate(); !begun) {
    gate_.leave();
    give_back();
    return std::move(begun).error();
  }
  return Turn(*this);
}

Result<bool> Writer::learn_clock(Connection& reader, BootTime deadline) {
  if (!take(deadline)) return false;
  auto found = clock_known() ? Result<bool>(true) : clock_.find(reader);
  if (found && *found) clock_known_.store(true, std::memory_order_release);
  give_back();
  return found;
}

bool Writer::take(BootTime deadline) {
  std::unique_lock lock(mutex_);
  if (!storage::wait_until(freed_, lock, deadline, [this] { return !taken_; })) return false;
  taken_ = true;
  return true;
}

void Writer::give_back() {
  {
    const std::lock_guard lock(mutex_);
    taken_ = false;
  }
  freed_.notify_one();
}

Writer::Turn::~Turn() {
  if (writer_ == nullptr) return;
  writer_->connection_->rollback();
  writer_->gate_.leave();
  writer_->give_back();
}

Result<void> Writer::Turn::load_clock() {
  if (writer_->clock_known()) return {};
  auto loaded = writer_->clock_.load(*writer_->connection_);
  clock_loaded_ = loaded.ok();
  return loaded;
}

Result<void> Writer::Turn::commit() {
  auto committed = writer_->connection_->commit();
  if (!committed) return committed;
  if (clock_loaded_) writer_->clock_known_.store(true, std::memory_order_release);
  writer_->hub_->announce();
  return {};
}

}  // namespace leasehold::sqlite
