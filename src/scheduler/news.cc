#include "scheduler/news.h"

#include <algorithm>

namespace leasehold::scheduler {

News::News(storage::Backend& backend, lease::Awaited& awaited, Duration call_timeout)
    : backend_(backend), awaited_(awaited), call_timeout_(call_timeout), watch_(backend.watch(topic_)) {}

void News::listen() {
  const auto now = BootClock::now();
  if (!awaited_.known(topic_, now)) awaited_.tell_store(backend_, topic_, now + call_timeout_);
}

void News::wait(BootTime until) {
  until = std::min(until, BootClock::now() + longest_wait);
  watch_->wait(until);
  if (BootClock::now() < until) {
    damping_.after_wake_up();
  } else {
    damping_.after_silence();
  }
}

}  // namespace leasehold::scheduler
