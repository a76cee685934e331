#include "lease/alarm.h"

#include <sys/timerfd.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "base/quiet_thread.h"

namespace leasehold::lease {
namespace {

class AlarmThread {
 public:
  static AlarmThread& instance() {
    static std::mutex mutex;
    static AlarmThread* known = nullptr;
    const std::lock_guard lock(mutex);
    // Never destroyed: alarms may outlive static destruction, and the thread waits in the kernel. After a fork the
    // child has a copy without the thread, and needs its own.
    if (known == nullptr || known->process_ != ::getpid()) known = new AlarmThread;
    return *known;
  }

  std::uint64_t add(std::function<void()> ring) {
    const std::lock_guard lock(mutex_);
    alarms_[++last_id_].ring = std::move(ring);
    return last_id_;
  }

  void set(std::uint64_t id, BootTime when) {
    const std::lock_guard lock(mutex_);
    const auto alarm = alarms_.find(id);
    if (alarm == alarms_.end()) return;
    alarm->second.when = when;
    wind();
  }

  void remove(std::uint64_t id) {
    std::unique_lock lock(mutex_);
    alarms_.erase(id);
    // Inside its own ring there is nothing to wait for.
    if (std::this_thread::get_id() == thread_) return;
    rung_.wait(lock, [&] { return ringing_ != id; });
  }

 private:
  struct Entry {
    std::function<void()> ring;
    std::optional<BootTime> when;
  };

  AlarmThread() : process_(::getpid()), timer_(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC)) {
    if (timer_ < 0) throw std::system_error(errno, std::generic_category(), "timerfd_create");
    auto thread = start_quiet_thread([this] { run(); });
    const std::lock_guard lock(mutex_);
    thread_ = thread.get_id();
    thread.detach();
  }

  void run() {
    for (;;) {
      std::uint64_t expirations = 0;
      if (read(timer_, &expirations, sizeof expirations) < 0 && errno != EINTR) std::abort();
      ring_due();
    }
  }

  void ring_due() {
    std::unique_lock lock(mutex_);
    while (const auto due = find_due()) {
      ringing_ = *due;
      alarms_[*due].when.reset();
      const auto ring = alarms_[*due].ring;
      lock.unlock();
      ring();
      lock.lock();
      ringing_ = 0;
      rung_.notify_all();
    }
    wind();
  }

  std::optional<std::uint64_t> find_due() const {
    for (const auto& [id, entry] : alarms_) {
      if (entry.when && *entry.when <= BootClock::now()) return id;
    }
    return std::nullopt;
  }

  // Sets the timer to the earliest alarm. Needs mutex_.
  void wind() {
    std::optional<BootTime> earliest;
    for (const auto& [id, entry] : alarms_) {
      if (entry.when && (!earliest || *entry.when < *earliest)) earliest = entry.when;
    }
    itimerspec spec{};
    if (earliest) {
      // Zero would disarm the timer.
      const auto micros = std::max<std::int64_t>(earliest->time_since_epoch().count(), 1);
      spec.it_value.tv_sec = micros / 1'000'000;
      spec.it_value.tv_nsec = micros % 1'000'000 * 1000;
    }
    timerfd_settime(timer_, TFD_TIMER_ABSTIME, &spec, nullptr);
  }

  const pid_t process_;
  const int timer_;
  std::mutex mutex_;
  std::condition_variable rung_;
  std::uint64_t ringing_ = 0;
  std::thread::id thread_;
  std::map<std::uint64_t, Entry> alarms_;
  std::uint64_t last_id_ = 0;
};

}  // namespace

Alarm::Alarm(std::function<void()> ring) : id_(AlarmThread::instance().add(std::move(ring))) {}

Alarm::~Alarm() { AlarmThread::instance().remove(id_); }

void Alarm::set(BootTime when) { AlarmThread::instance().set(id_, when); }

}  // namespace leasehold::lease
