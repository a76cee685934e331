// The callback of a watched lease may own objects that end another watch, so the thread that destroys the callback must
// hold no lock.
#include "lease/recall.h"

#include <gtest/gtest.h>

#include <thread>

#include "support/gate.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

using lease::Recalls;

class RecallTest : public StoreTest {
 protected:
  /// A lease that is not there has ended: the first look has news of it.
  static constexpr std::int64_t gone = 987654321;

  void SetUp() override {
    StoreTest::SetUp();
    recalls_ = std::make_shared<Recalls>(under_test().open_backend());
  }

  std::shared_ptr<void> watch(Recalls::OnNews on_news) { return recalls_->watch(gone, std::move(on_news)); }

  /// If a thread hangs with the lock, no other thread may wait for it: the recalls stay.
  void expect_open(Gate& gate) {
    if (gate.wait()) return;
    static_cast<void>(new std::shared_ptr<Recalls>(recalls_));
    ADD_FAILURE() << "a callback was destroyed under the lock that the end of a watch takes";
  }

  std::shared_ptr<Recalls> recalls_;
};
LEASEHOLD_ON_BOTH_STORES(RecallTest);

TEST_P(RecallTest, AWatchThatOwnsAnotherMayEnd) {
  auto ended = std::make_shared<Gate>();
  auto outer = watch([inner = watch([](const LeaseNews&) {})](const LeaseNews&) {});
  std::thread([outer = std::move(outer), ended]() mutable {
    outer.reset();
    ended->open();
  }).detach();
  expect_open(*ended);
}

/// Destroyed last of all, by the thread of the recalls, together with the callback that it has just called.
struct Owned {
  std::shared_ptr<Gate> ended;
  std::shared_ptr<void> inner;
  ~Owned() {
    inner.reset();
    ended->open();
  }
};

TEST_P(RecallTest, AWatchThatOwnsAnotherMayEndItselfWhenItHasNews) {
  auto ended = std::make_shared<Gate>();
  auto set = std::make_shared<Gate>();
  auto self = std::make_shared<std::shared_ptr<void>>();
  auto owned = std::make_shared<Owned>();
  owned->ended = ended;
  owned->inner = watch([](const LeaseNews&) {});
  *self = watch([set, self, owned = std::move(owned)](const LeaseNews&) {
    if (set->wait()) self->reset();
  });
  set->open();
  expect_open(*ended);
}

}  // namespace
}  // namespace leasehold::support
