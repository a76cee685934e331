#include "storage/sqlite/writer.h"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace leasehold::sqlite {
namespace {

constexpr int turnstile = 0;
constexpr int gate = 1;
constexpr int hurry = 2;
constexpr Duration patience = std::chrono::milliseconds(300);
// After a wait in vain the gate is bypassed for a while: the process inside may be stopped for long.
constexpr Duration around_for = std::chrono::seconds(1);
// Short compared with a commit, long compared with a system call.
constexpr useconds_t pause_us = 60;

struct flock lock_of(short what, int byte) {
  struct flock request {};
  request.l_type = what;
  request.l_whence = SEEK_SET;
  request.l_start = byte;
  request.l_len = 1;
  return request;
}

}  // namespace

WriteGate::~WriteGate() {
  if (file_ >= 0) ::close(file_);
}

// Locks of the open file description, not of the process: they end with the last user of the descriptor, even after
// kill -9.
bool WriteGate::take(short what, int byte) const {
  auto request = lock_of(what, byte);
  return fcntl(file_, F_OFD_SETLK, &request) == 0;
}

bool WriteGate::wait_for(int byte, BootTime until) const {
  while (!take(F_WRLCK, byte)) {
    if (BootClock::now() >= until) return false;
    usleep(pause_us);
  }
  return true;
}

bool WriteGate::let_the_urgent_go_first(BootTime until) const {
  for (;;) {
    auto request = lock_of(F_WRLCK, hurry);
    if (fcntl(file_, F_OFD_GETLK, &request) != 0 || request.l_type == F_UNLCK) return true;
    if (BootClock::now() >= until) return false;
    usleep(pause_us);
  }
}

void WriteGate::enter(bool urgent, BootTime deadline) {
  if (file_ < 0) return;
  const auto now = BootClock::now();
  const bool around = now < walk_around_until_;
  // Usually no other process is inside. Then the gate alone keeps the others out.
  if (urgent && !around && take(F_WRLCK, gate)) {
    inside_ = true;
    return;
  }
  // Set even when bypassing the gate: the others wait until this one has got in.
  in_a_hurry_ = urgent && take(F_RDLCK, hurry);
  if (around) return;
  const auto until = std::min(now + patience, deadline);
  const bool next = urgent || wait_for(turnstile, until);
  inside_ = next && (urgent || let_the_urgent_go_first(until)) && wait_for(gate, until);
  if (next && !urgent) take(F_UNLCK, turnstile);
  if (!inside_) walk_around_until_ = BootClock::now() + around_for;
}

void WriteGate::leave() {
  if (std::exchange(in_a_hurry_, false)) take(F_UNLCK, hurry);
  if (std::exchange(inside_, false)) take(F_UNLCK, gate);
}

Writer::Writer(std::unique_ptr<Connection> connection, StoreFile file, const Clock& clock,
               std::shared_ptr<ChangeHub> hub)
    : connection_(std::move(connection)), file_(std::move(file)), clock_(clock), hub_(std::move(hub)) {}

Result<Writer::Turn> Writer::begin(bool urgent, BootTime deadline, std::span<storage::PendingCall* const> calls) {
  if (!take(urgent, deadline)) {
    return Error{.code = Errc::busy, .message = "another thread has been writing too long; try again"};
  }
  connection_->be_patient_until(deadline);
  if (auto begun = begin_in_turn(urgent, deadline, calls); !begun) {
    if (gate_) gate_->leave();
    give_back();
    return std::move(begun).error();
  }
  return Turn(*this);
}

Result<void> Writer::begin_in_turn(bool urgent, BootTime deadline, std::span<storage::PendingCall* const> calls) {
  if (!gate_) {
    if (auto moved = move_in(); !moved) return moved;
  }
  for (const auto* call : calls) connection_->prepare_early(*call->statement);
  if (gate_) gate_->enter(urgent, deadline);
  if (auto begun = connection_->begin_immediate(); !begun) return begun;
  if (!gate_ || file_.knows_log()) return {};
  auto noted = file_.remember_log();
  if (!noted) connection_->rollback();
  return noted;
}

/// A file without leasehold's tables may belong to another program: it keeps its journal mode, and gets no sidecar
/// files. So the very first migration is written without a write-ahead log.
Result<void> Writer::move_in() {
  if (file_.in_memory()) return {};
  auto ours = connection_->run_script("SELECT 1 FROM sqlite_master WHERE name = 'leasehold_migration'");
  if (!ours) return std::move(ours).error();
  if (ours->empty()) return {};
  if (auto switched = connection_->switch_to_wal(); !switched) return switched;
  if (auto regular = file_.require_regular_beside("-gate"); !regular) return regular;
  gate_.emplace(file_.open_beside("-gate"));
  return {};
}

Result<bool> Writer::learn_clock(Connection& reader, BootTime deadline) {
  if (!take(true, deadline)) return false;
  auto found = clock_known() ? Result<bool>(true) : clock_.find(reader);
  if (found && *found) clock_known_.store(true, std::memory_order_release);
  give_back();
  return found;
}

// A thread that writes in a loop returns before the threads it has woken, so it lets urgent ones go first.
bool Writer::take(bool urgent, BootTime deadline) {
  std::unique_lock lock(mutex_);
  urgent_waiting_ += urgent ? 1 : 0;
  const bool free = wait_until(freed_, lock, deadline, [&] { return !taken_ && (urgent || urgent_waiting_ == 0); });
  urgent_waiting_ -= urgent ? 1 : 0;
  if (free) taken_ = true;
  // Wakes threads that waited for an urgent one that gave up, and passes on a wake-up that this one did not use.
  if (!free) freed_.notify_all();
  return free;
}

void Writer::give_back() {
  {
    const std::lock_guard lock(mutex_);
    taken_ = false;
  }
  freed_.notify_all();
}

Writer::Turn::~Turn() {
  if (writer_ == nullptr) return;
  writer_->connection_->rollback();
  if (writer_->gate_) writer_->gate_->leave();
  writer_->give_back();
}

Result<void> Writer::Turn::load_clock() {
  if (writer_->clock_known()) return {};
  auto loaded = writer_->clock_.load(*writer_->connection_);
  clock_loaded_ = loaded.ok();
  return loaded;
}

Result<void> Writer::Turn::commit() {
  if (auto same = writer_->file_.check(); !same) return same;
  if (auto same = writer_->file_.check_log(); !same) return same;
  auto committed = writer_->connection_->commit();
  if (!committed) return committed;
  if (clock_loaded_) writer_->clock_known_.store(true, std::memory_order_release);
  writer_->hub_->announce();
  return {};
}

}  // namespace leasehold::sqlite
