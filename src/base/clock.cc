#include "base/clock.h"

#include "base/machine.h"

namespace leasehold {
namespace {

class SystemClock final : public Clock {
 public:
  [[nodiscard]] BootTime boot_now() const override { return BootClock::now(); }
  [[nodiscard]] Timestamp wall_now() const override {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  }
  [[nodiscard]] MachineFacts machine() const override { return this_machine(); }
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace leasehold
