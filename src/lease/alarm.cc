#include "lease/alarm.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <optional>
#include <thread>

namespace leasehold::lease {
namespace {

class AlarmThread {
 public:
  static AlarmThread& instance() {
    // Never destroyed: alarms may outlive static destruction, and the thread waits in the kernel.
    static auto* thread = new AlarmThread;
    return *thread;
  }

  std::uint64_t add(std::function<void()> ring) {
    const std::lock_guard lock(mutex_);
    alarms_[++last_id_].ring = std::move(ring);
    return last_id_;
  }

  void set(std::uint64_t id, BootTime when) {
    const std::lock_guard lock(mutex_);
    alarms_[id].when = when;
    wind();
  }

  void remove(std::uint64_t id) {
    // Ringing happens under ring_mutex_, so afterwards it is over.
    const std::lock_guard ringing(ring_mutex_);
    const std::lock_guard lock(mutex_);
    alarms_.erase(id);
  }

 private:
  struct Entry {
    std::function<void()> ring;
    std::optional<BootTime> when;
  };

  AlarmThread() : timer_(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC)) {
    std::thread([this] { run(); }).detach();
  }

  void run() {
    for (;;) {
      std::uint64_t expirations = 0;
      if (read(timer_, &expirations, sizeof expirations) < 0) continue;
      ring_due();
    }
  }

  void ring_due() {
    const std::lock_guard ringing(ring_mutex_);
    while (auto ring = take_due()) ring();
    const std::lock_guard lock(mutex_);
    wind();
  }

  std::function<void()> take_due() {
    const std::lock_guard lock(mutex_);
    for (auto& [id, entry] : alarms_) {
      if (entry.when && *entry.when <= BootClock::now()) {
        entry.when.reset();
        return entry.ring;
      }
    }
    return nullptr;
  }

  // Sets the timer to the earliest alarm. With mutex_ held.
  void wind() {
    std::optional<BootTime> earliest;
    for (const auto& [id, entry] : alarms_) {
      if (entry.when && (!earliest || *entry.when < *earliest)) earliest = entry.when;
    }
    itimerspec spec{};
    if (earliest) {
      // Zero would disarm it.
      const auto micros = std::max<std::int64_t>(earliest->time_since_epoch().count(), 1);
      spec.it_value.tv_sec = micros / 1'000'000;
      spec.it_value.tv_nsec = micros % 1'000'000 * 1000;
    }
    timerfd_settime(timer_, TFD_TIMER_ABSTIME, &spec, nullptr);
  }

  int timer_;
  std::mutex ring_mutex_;
  std::mutex mutex_;
  std::map<std::uint64_t, Entry> alarms_;
  std::uint64_t last_id_ = 0;
};

}  // namespace

Alarm::Alarm(std::function<void()> ring) : id_(AlarmThread::instance().add(std::move(ring))) {}

Alarm::~Alarm() { AlarmThread::instance().remove(id_); }

void Alarm::set(BootTime when) { AlarmThread::instance().set(id_, when); }

}  // namespace leasehold::lease
