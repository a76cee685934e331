#include "loader/task.h"

#include <algorithm>
#include <thread>

#include "worker/growing_pause.h"

namespace leasehold::loader {
namespace {

Error too_late(const char* what) {
  return {.code = Errc::lost, .message = std::string("the lease was lost before ") + what + " was written"};
}

}  // namespace

template <typename Ask>
auto Task::insist(Ask&& ask) -> decltype(ask()) {
  worker::GrowingPause pause;
  for (;;) {
    auto answer = ask();
    if (answer || !worker::passes(answer.error().code)) return answer;
    tell_(answer.error());
    const auto& live = *lease->live;
    const auto left = live.trusted_until() - BootClock::now();
    if (live.lost() || left <= Duration(0)) return answer;
    std::this_thread::sleep_for(std::min<Duration>(pause.next(), left));
  }
}

Result<ChunkHeartbeat> Task::save(const ChunkSave& save) {
  if (lease->live->lost()) return too_late("the cursor");
  auto saved = insist([&] { return source_.heartbeat(chunk, save); });
  if (saved) {
    lease->live->trust(saved->trusted_until);
  } else if (saved.error().code == Errc::lost) {
    stop.raise(StopReason::lost);
  }
  return saved;
}

Result<ChunkSettled> Task::settle(const ChunkVerdict& verdict) {
  if (lease->live->lost()) return too_late("the verdict");
  return insist([&] { return source_.settle(chunk, verdict); });
}

}  // namespace leasehold::loader
