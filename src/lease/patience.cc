#include "lease/patience.h"

#include <thread>

namespace leasehold::lease {
namespace {

// Wake-ups are hints; this is the truth.
constexpr Duration look_again = std::chrono::seconds(1);
// There is work, but somebody else had his hands on it.
constexpr Duration look_again_when_busy = std::chrono::milliseconds(20);
constexpr Duration longest_damping = std::chrono::milliseconds(50);

}  // namespace

void Damping::after_wake_up() {
  if (pause_ > Duration(0)) std::this_thread::sleep_for(pause_);
  pause_ = std::clamp<Duration>(pause_ * 2, std::chrono::milliseconds(1), longest_damping);
}

Duration until_next_look(const Error& refusal) {
  if (refusal.code == Errc::busy) return look_again_when_busy;
  return std::clamp<Duration>(refusal.retry_in.value_or(look_again), std::chrono::milliseconds(1), look_again);
}

}  // namespace leasehold::lease
