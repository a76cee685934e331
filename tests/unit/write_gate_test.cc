// The order in which callers pass the gate of a SQLite file.
#include "storage/sqlite/writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "support/temp_dir.h"

namespace leasehold::sqlite {
namespace {

using namespace std::chrono_literals;

class WriteGateTest : public ::testing::Test {
 protected:
  /// As another process would have it: with a descriptor of its own.
  [[nodiscard]] int opened() const {
    return ::open(folder_.file("store.db-gate").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  }
  static BootTime soon() { return BootClock::now() + 10s; }

  support::TempDir folder_;
};

/// Turns of a thread that writes in steps: out of the gate, and at once in again.
class Writing {
 public:
  explicit Writing(int file) : gate_(file), thread_([this](const std::stop_token& stop) { write(stop); }) {}

  [[nodiscard]] int turns() const { return turns_; }

 private:
  void write(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      gate_.enter(false, BootClock::now() + 10s);
      ++turns_;
      std::this_thread::sleep_for(1ms);
      gate_.leave();
    }
  }
  WriteGate gate_;
  std::atomic<int> turns_ = 0;
  std::jthread thread_;
};

TEST_F(WriteGateTest, AnUrgentOneGetsInBetweenTwoStepsOfALongAct) {
  const Writing writing(opened());
  WriteGate urgent(opened());
  while (writing.turns() == 0) std::this_thread::yield();
  for (int i = 0; i < 20; ++i) {
    const auto before = writing.turns();
    urgent.enter(true, soon());
    EXPECT_LE(writing.turns() - before, 2) << "only the step that is under way is waited for";
    urgent.leave();
  }
}

TEST_F(WriteGateTest, TheOthersGoOnWhenTheUrgentHaveLeft) {
  WriteGate urgent(opened());
  urgent.enter(true, soon());
  urgent.leave();
  const Writing writing(opened());
  while (writing.turns() < 3) std::this_thread::yield();
}

}  // namespace
}  // namespace leasehold::sqlite
