// Commands that wait anyway also wait for the first connection: a server may be starting, or have none left. What will
// not pass by waiting fails at once.
#include "cli/tool.h"
#include "support/copied_database.h"
#include "support/pg.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;

/// A database, and a role that may not connect to it yet: the server says "too many connections for role".
class FirstConnection : public ToolTest {
 protected:
  FirstConnection() {
    admin_.run("CREATE ROLE " + role_ + " LOGIN CONNECTION LIMIT 0");
    PgConnection(database_.url()).run("SELECT leasehold_internal.grant_scope('" + role_ + "', 'admin')");
  }
  ~FirstConnection() override {
    PgConnection(database_.url()).fail("DROP OWNED BY " + role_);
    admin_.fail("DROP ROLE " + role_);
  }

  [[nodiscard]] std::string url() const override { return as_role(role_); }
  /// The test database's URL for another user.
  [[nodiscard]] std::string as_role(const std::string& role) const {
    auto url = database_.url();
    const auto begin = url.find("://") + 3;
    const auto at = url.find('@');
    return url.replace(begin, at - begin, role);
  }
  void let_in() { admin_.run("ALTER ROLE " + role_ + " CONNECTION LIMIT -1"); }

  /// Starts it, lets it in when it has said that it tries again, and gives how it ended; both outputs are one.
  Finished finished_once_let_in(const Arguments& words) {
    Arguments arguments = {"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh", LEASEHOLD_TOOL};
    arguments.insert(arguments.end(), words.begin(), words.end());
    auto process = Process::start(arguments, {{"LEASEHOLD_DB", url()}});
    EXPECT_TRUE(contains(process.read_line(20s).value_or("nothing"), "trying again"));
    let_in();
    return process.finish(30s);
  }

  CopiedDatabase database_{test_postgres_url()};
  PgConnection admin_{test_postgres_url()};
  std::string role_ = "first_" + std::to_string(::getpid());
};

TEST_F(FirstConnection, WaitIncludesTheFirstConnection) {
  const auto refused = tool({"lock", "acquire", "deploy"});
  EXPECT_EQ(refused.exit_code, 69) << refused.err;
  const auto granted = finished_once_let_in({"lock", "acquire", "deploy", "--wait", "30s"});
  EXPECT_EQ(granted.exit_code, 0) << granted.out;
  EXPECT_TRUE(contains(granted.out, "granted deploy"));
  EXPECT_EQ(granted.out.find("trying again"), std::string::npos) << "it is said once: " << granted.out;
}

TEST_F(FirstConnection, AWorkerWaitsForTheFirstConnection) {
  const auto done = finished_once_let_in({"work", "mail", "--drain", "--", "true"});
  EXPECT_EQ(done.exit_code, 0) << done.out;
}

TEST_F(FirstConnection, AWaitThatIsOverEndsIt) {
  const auto finished = tool({"job", "claim", "mail", "--wait", "300ms"});
  EXPECT_EQ(finished.exit_code, 69) << finished.err;
}

TEST_F(FirstConnection, AnErrorThatWaitingCannotFixFailsAtOnce) {
  let_in();
  const auto no_database = url().substr(0, url().rfind('/')) + "/no_such_database";
  for (const auto& [address, code] : {std::pair{as_role("no_such_role"), 1}, {no_database, 2}}) {
    for (const auto& words : {Arguments{"lock", "acquire", "deploy", "--wait", "5m"}, {"work", "mail", "--", "true"}}) {
      const auto finished = tool(words, {{"LEASEHOLD_DB", address}});
      EXPECT_EQ(finished.exit_code, code) << address << ": " << finished.err;
      EXPECT_FALSE(finished.timed_out);
    }
  }
}

}  // namespace
}  // namespace leasehold::support
