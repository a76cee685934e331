// A store that is reached only through a server: the server removes the history that is kept no longer.
#include "serve/server_fixture.h"
#include "serve/site.h"
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
  /// What a server does every second, without the server: returns when it is done.
  void take_step(const serve::SiteOptions& options) {
    serve::Site site(store(), options);
    site.prune();
    site.finish();
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
  take_step({.read_only = true});
  EXPECT_EQ(rows("job"), "20");
  // A step was due.
  take_step({});
  EXPECT_EQ(rows("job"), "0");
}

}  // namespace
}  // namespace leasehold::support
