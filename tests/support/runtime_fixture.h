// For tests of worker and loader: a SQLite store, and a way to it that breaks on demand.
//
//   RunningWorker worker(fragile(), {{"mail", complete}}, {});
//   faults().fail_always(Fault::fail_before_send);
//   EXPECT_TRUE(eventually([&] { return faults().calls("lease_extend") > 2; }));
//
// The store's clock stands still: no lease expires there before advance(). What the runtime trusts is real time.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "store/store.h"
#include "support/fault_backend.h"
#include "support/gate.h"
#include "support/job_helpers.h"
#include "support/process.h"
#include "support/store_fixture.h"

namespace leasehold::support {

class RuntimeTest : public ::testing::Test {
 protected:
  using Ids = std::vector<JobId>;

  const Store& store() { return store_; }
  /// The same store, as the runtime sees it.
  const Store& fragile() { return fragile_; }
  FaultBackend& faults() { return *faults_; }
  void advance(Duration by) { file_.advance(by); }
  void break_store() { faults().fail_always(Fault::fail_before_send); }
  /// The next call of a statement is done, but its answer is lost for ever.
  void leave_in_doubt(const std::string& statement) {
    faults().fail_next(Fault::lose_reply, 1, statement);
    faults().then_fail(Fault::fail_before_send, 1, statement);
  }

  Ids add(const std::string& queue, int jobs) { return add_many(store_.jobs(), queue, jobs); }
  JobInfo show(JobId id) { return must(store_.jobs().show(id)); }
  /// A solo job: it was one of several when its holder died, and is the only one now.
  JobId add_solo(const std::string& queue) {
    const auto ids = add(queue, 2);
    must(store_.jobs().claim(queue, {.max = 2, .ttl = 30s}, {.holder = Holder{.name = "ghost", .instance = "g"}}));
    advance(31s);
    must(store_.recover());
    if (!store_.jobs().remove(ids[1])) throw std::runtime_error("cannot remove a job");
    return ids[0];
  }
  /// Jobs with an attempt that ended like this, by their ids.
  Ids settled(const std::string& outcome) {
    Ids ids;
    for (const auto& row : file_.rows("SELECT job_id FROM leasehold_settled WHERE outcome = '" + outcome + "'")) {
      ids.push_back(std::stoll(row.at(0).value()));
    }
    return ids;
  }
  bool settles(const std::string& outcome, std::size_t jobs) {
    return eventually([&] { return settled(outcome).size() == jobs; });
  }

  /// Ids of leases of a kind, and of those that have ended.
  Ids leases(const std::string& kind, bool ended = false) {
    Ids ids;
    for (const auto& row : file_.rows("SELECT id FROM leasehold_lease WHERE kind = '" + kind + "'" +
                                      (ended ? " AND ended_at IS NOT NULL" : "") + " ORDER BY id")) {
      ids.push_back(std::stoll(row.at(0).value()));
    }
    return ids;
  }
  TestStore& under_test() { return file_; }

 private:
  TestStore file_{StoreKind::sqlite};
  Store store_ = file_.open();
  std::shared_ptr<FaultBackend> faults_ = std::make_shared<FaultBackend>(file_.open_backend());
  Store fragile_ = store_over(faults_, {});
};

}  // namespace leasehold::support
