// `leasehold lock watch`: a line per change of hands, and waiting for a state in a script.
#include <signal.h>

#include "cli/tool.h"

namespace leasehold::support {
namespace {

class LockWatch : public StoreToolTest {
 protected:
  static constexpr Duration patience = 30s;

  [[nodiscard]] Process start(const Arguments& more = {}) const {
    Arguments words{LEASEHOLD_TOOL, "lock", "watch", "deploy"};
    words.insert(words.end(), more.begin(), more.end());
    return Process::start(words, {{"LEASEHOLD_DB", url()}, {"TZ", "UTC"}});
  }
};
LEASEHOLD_ON_BOTH_STORES(LockWatch);

TEST_P(LockWatch, ShowsTheStateAndEveryChangeUntilInterrupted) {
  auto watch = start();
  EXPECT_TRUE(contains(watch.read_line(patience).value_or(""), "free  never held before"));
  const auto token = acquired("deploy", {"--holder", "ana"});
  EXPECT_TRUE(contains(watch.read_line(patience).value_or(""), "running  ana  token " + token));
  tool({"lock", "release", "deploy", "--token", token});
  EXPECT_TRUE(contains(watch.read_line(patience).value_or(""), "free  released by ana"));
  acquired("deploy", {"--permits", "2/8", "--holder", "bob"});
  EXPECT_TRUE(contains(watch.read_line(patience).value_or(""), "running  bob  permits 2/8  token "));
  acquired("deploy", {"--permits", "1/8", "--holder", "cat"});
  EXPECT_TRUE(contains(watch.read_line(patience).value_or(""), "running  2 holders  permits 3/8  token "));
  watch.signal(SIGINT);
  EXPECT_EQ(watch.finish(patience).exit_code, 0);
}

TEST_P(LockWatch, WithJsonEachLineIsAnObject) {
  acquired("deploy", {"--holder", "ana"});
  auto watch = start({"--json"});
  const auto first = boost::json::parse(watch.read_line(patience).value_or("null"));
  EXPECT_EQ(first.at("state"), "running");
  EXPECT_EQ(first.at("holder").at("name"), "ana");
  tool({"lock", "revoke", "deploy", "--reason", "test", "--yes"});
  EXPECT_EQ(boost::json::parse(watch.read_line(patience).value_or("null")).at("end_reason"), "revoked");
}

TEST_P(LockWatch, UntilFreeEndsWhenItCanBeTaken) {
  const auto token = acquired("deploy");
  auto watch = start({"--until", "free", "--wait", "1m"});
  ASSERT_TRUE(contains(watch.read_line(patience).value_or(""), "running"));
  tool({"lock", "release", "deploy", "--token", token});
  EXPECT_EQ(watch.finish(patience).exit_code, 0);
}

TEST_P(LockWatch, ALockInItsDelayIsNotFree) {
  acquired("deploy", {"--lock-delay", "2s", "--ttl", "1h"});
  ASSERT_EQ(tool({"lock", "revoke", "deploy", "--reason", "test", "--yes"}).exit_code, 0);
  auto watch = start({"--until", "free", "--wait", "1m"});
  EXPECT_TRUE(contains(watch.read_line(patience).value_or(""), "lock delay"));
  EXPECT_EQ(watch.finish(patience).exit_code, 0);
  EXPECT_EQ(tool({"lock", "acquire", "deploy"}).exit_code, 0);
}

// No act ends such a lease: only its delay passes.
TEST_P(LockWatch, OneThatExpiredIsFreeWhenItsDelayIsOver) {
  acquired("deploy", {"--lock-delay", "500ms", "--ttl", "500ms"});
  EXPECT_EQ(start({"--until", "free", "--wait", "1m"}).finish(patience).exit_code, 0);
  EXPECT_EQ(tool({"lock", "acquire", "deploy"}).exit_code, 0);
}

TEST_P(LockWatch, UntilHeldEndsWhenItIsHeld) {
  auto watch = start({"--until", "held"});
  ASSERT_TRUE(contains(watch.read_line(patience).value_or(""), "never held"));
  acquired("deploy");
  EXPECT_EQ(watch.finish(patience).exit_code, 0);
}

TEST_P(LockWatch, TheExitCodeShowsTheTimeout) {
  acquired("deploy");
  for (const auto* timeout : {"300ms", "0s"}) {
    const auto over = start({"--until", "free", "--wait", timeout}).finish(patience);
    EXPECT_EQ(over.exit_code, 75) << timeout;
    EXPECT_TRUE(contains(over.err, "lock \"deploy\" is not free: the wait ran out"));
  }
  const auto over = start({"--until", "free", "--wait", "0s", "--json"}).finish(patience);
  EXPECT_TRUE(contains(over.out, "\"code\":\"busy\""));
  EXPECT_EQ(start({"--wait", "1s"}).finish(patience).exit_code, 2);
  EXPECT_EQ(start({"--until", "gone"}).finish(patience).exit_code, 2);
}

TEST_P(LockWatch, TheExitCodeOfAWaitingCommandShowsTheSignal) {
  acquired("deploy");
  for (const int signal : {SIGINT, SIGTERM}) {
    auto watch = start({"--until", "free", "--wait", "1h"});
    ASSERT_TRUE(watch.read_line(patience).has_value());
    watch.signal(signal);
    EXPECT_EQ(watch.finish(patience).exit_code, 128 + signal);
  }
}

TEST_P(LockWatch, WithJsonALockThatWasNeverHeldIsFree) {
  const auto watched = start({"--json", "--until", "free"}).finish(patience);
  EXPECT_EQ(watched.exit_code, 0);
  EXPECT_EQ(watched.out, "{\"name\":\"deploy\",\"state\":\"free\"}\n");
}

TEST_P(LockWatch, AWaitReportsThatItWasInterrupted) {
  acquired("deploy");
  for (const int signal : {SIGINT, SIGTERM}) {
    auto watch = start({"--until", "free", "--wait", "1m"});
    ASSERT_TRUE(contains(watch.read_line(patience).value_or(""), "running"));
    watch.signal(signal);
    EXPECT_EQ(watch.finish(patience).exit_code, 128 + signal);
  }
}

// As nohup and the background of a script have it.
TEST_P(LockWatch, AnIgnoredSignalDoesNotStopIt) {
  const auto words = " lock watch deploy --until held --db '" + url() + "'";
  auto watch = Process::start({"sh", "-c", std::string("trap '' INT; exec ") + LEASEHOLD_TOOL + words});
  ASSERT_TRUE(contains(watch.read_line(patience).value_or(""), "never held"));
  watch.signal(SIGINT);
  acquired("deploy");
  EXPECT_EQ(watch.finish(patience).exit_code, 0);
}

TEST_P(LockWatch, EventsShowEveryHolder) {
  const auto token = acquired("deploy", {"--holder", "ana"});
  auto watch = start({"--events"});
  EXPECT_TRUE(contains(watch.read_line(patience).value_or(""), "lock deploy  acquired  by ana"));
  tool({"lock", "release", "deploy", "--token", token});
  EXPECT_TRUE(contains(watch.read_line(patience).value_or(""), "lock deploy  released  by ana"));
  watch.signal(SIGTERM);
  EXPECT_EQ(watch.finish(patience).exit_code, 0);
}

}  // namespace
}  // namespace leasehold::support
