// A test that has, beside its store, a handle on it whose network breaks on demand:
//
//   class JobDoubtTest : public WithBrokenStore<StoreTest> { ... };
//   faults_->fail_next(Fault::lose_reply);
//   broken_->jobs().complete(...);
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "store/store.h"
#include "support/fault_backend.h"

namespace leasehold::support {

template <typename Base>
class WithBrokenStore : public Base {
 protected:
  void SetUp() override {
    Base::SetUp();
    faults_ = std::make_shared<FaultBackend>(this->under_test().open_backend());
    broken_ = store_over(faults_, {.call_timeout = std::chrono::seconds(2)});
  }
  void TearDown() override {
    broken_.reset();
    faults_.reset();
  }

  std::shared_ptr<FaultBackend> faults_;
  std::optional<Store> broken_;
};

}  // namespace leasehold::support
