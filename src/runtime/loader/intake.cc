#include "runtime/loader/intake.h"

#include <system_error>
#include <utility>

#include "base/clock.h"

namespace leasehold::loader {
namespace {

// There are chunks, but another process is claiming them.
constexpr Duration look_again_when_busy = std::chrono::milliseconds(20);

/// Waiting will bring no more chunks.
bool is_final(const Error& refusal) { return refusal.code == Errc::empty && !refusal.retry_at; }

}  // namespace

TaskPtr Intake::next() {
  const std::lock_guard turn(turn_);
  while (!ending_.stop_requested()) {
    auto task = ask();
    if (task) {
      pause_.reset();
      if (once_) end();
      return std::move(*task);
    }
    if (may_wait(task.error().code)) {
      refused(std::move(task).error());
    } else {
      failed(task.error());
    }
  }
  return nullptr;
}

Result<TaskPtr> Intake::ask() try {
  auto lease = leases_.current();
  if (!lease) return std::move(lease).error();
  const auto patience = once_ ? ChunksSource::Patience::ask_once : ChunksSource::Patience::wait;
  const auto& shared = *(*lease)->shared;
  auto grant = source_.claim(shared, patience, ending_.get_token());
  if (!grant) return std::move(grant).error();
  const auto its_lease = grant->lease_id == shared.id ? *lease : leases_.of_its_own(*grant);
  return std::make_shared<Task>(source_, std::move(grant->chunks.front()), its_lease, report_);
} catch (const std::system_error& error) {
  return Error{.code = Errc::internal, .message = std::string("cannot watch the lease: ") + error.what()};
}

void Intake::refused(Error why) {
  pause_.reset();
  if (why.code == Errc::busy) {
    sleep(look_again_when_busy);
  } else if (once_ || (is_final(why) && !keep_waiting_)) {
    end_with(refusal_, std::move(why));
  }
}

void Intake::failed(const Error& why) {
  report_(why);
  if (why.code == Errc::lost) {
    leases_.retire();
  } else if (why.code == Errc::in_doubt) {
    // A chunk that we never received may be attached to the lease, and stays with it until it ends. So attach nothing
    // more to it, and end it with the last chunk that we know.
    leases_.retire();
    sleep(pause_.next());
  } else if (may_repeat(why.code)) {
    sleep(pause_.next());
  } else {
    end_with(failure_, why);
  }
}

void Intake::end_with(std::optional<Error>& reason, Error why) {
  {
    const std::lock_guard lock(mutex_);
    reason = std::move(why);
  }
  end();
}

void Intake::sleep(Duration length) const { sleep_until(BootClock::now() + length, ending_.get_token()); }

std::optional<Error> Intake::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

std::optional<Error> Intake::refusal() const {
  const std::lock_guard lock(mutex_);
  return refusal_;
}

}  // namespace leasehold::loader
