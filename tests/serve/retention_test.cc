// A store that is reached only through a server: the server removes the history that is kept no longer.
#include "serve/server_fixture.h"
#include "support/job_helpers.h"
#include "support/results.h"

namespace leasehold::support {
namespace {

class ServedRetentionTest : public ServerTest {
 protected:
  /// Completes jobs, and lets their retention pass.
  void leave_history() {
    for (int i = 0; i < 20; ++i) {
      must(store().jobs().enqueue("mail", {.payload = "{}"}));
      const auto grant = must(store().jobs().claim("mail"));
      must(store().jobs().complete(grant.jobs.front().id, grant.token));
    }
    advance(8 * 24h);
    // Another process looks for the first time.
    store() = open();
  }
  std::string rows(const std::string& table) {
    return under_test().scalar("SELECT count(*) FROM " + under_test().table(table));
  }
};
LEASEHOLD_ON_BOTH_STORES(ServedRetentionTest);

TEST_P(ServedRetentionTest, AnIdleServerPrunes) {
  leave_history();
  start_without_auth();
  EXPECT_TRUE(eventually([&] { return rows("job") == "0"; }));
}

TEST_P(ServedRetentionTest, AServerThatOnlyReadsDoesNot) {
  leave_history();
  start({.read_only = true, .callers = {.no_auth = true}});
  std::this_thread::sleep_for(2500ms);
  EXPECT_EQ(rows("job"), "20");
}

}  // namespace
}  // namespace leasehold::support
