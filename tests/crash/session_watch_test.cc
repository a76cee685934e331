// `leasehold session open --watch-pid` with real processes, on both stores: the heartbeater that stays behind lives
// with one process, and with no other.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/postgres_server.h"
#include "support/process.h"
#include "support/session_helpers.h"
#include "support/store_fixture.h"
#include "support/ticking_tree.h"

namespace leasehold::support {
namespace {

constexpr Duration patience = 30s;

std::string contents_of(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The heartbeater of a session; 0: there is none.
pid_t heartbeater_of(const std::string& session) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto words = contents_of(entry.path() / "cmdline");
    const bool is_one = words.find(std::string("watch") + '\0' + "--session=" + session + '\0') != std::string::npos;
    if (is_one) return std::stoi(entry.path().filename());
  }
  return 0;
}

/// Sleeps for a minute at most; says nothing.
Process start_agent() { return Process::start({"sleep", "60"}); }

class SessionWatch : public ::testing::TestWithParam<StoreKind> {
 protected:
  SessionWatch() : test_store_(GetParam(), {.real_time = true}), store_(test_store_.open()) {}
  ~SessionWatch() override {
    // The leftovers of a failed test.
    if (const pid_t left = heartbeater_of(id_); left != 0) ::kill(left, SIGKILL);
  }

  [[nodiscard]] Finished open(const Process& agent, const Arguments& more = {}) const {
    Arguments words{LEASEHOLD_TOOL, "session",        "open", "--id", id_, "--watch-pid", std::to_string(agent.pid()),
                    "--db",         test_store_.url()};
    words.insert(words.end(), more.begin(), more.end());
    return support::run(words);
  }
  [[nodiscard]] SessionInfo session() const { return must(store_.sessions().show(id_)); }
  [[nodiscard]] bool heartbeats_until(Duration age) const {
    return eventually([&] { return session().heartbeat_at - session().opened_at >= age; }, patience);
  }
  [[nodiscard]] bool heartbeater_ends() const {
    return eventually([&] { return heartbeater_of(id_) == 0; }, patience);
  }

  /// Reported apart from those of other tests that run at the same time.
  const std::string id_ = "watched-" + std::to_string(::getpid());
  TempDir folder_;
  TestStore test_store_;
  Store store_;
};

LEASEHOLD_ON_BOTH_STORES(SessionWatch);

TEST_P(SessionWatch, TheListOfProcessesDoesNotShowTheToken) {
  auto agent = start_agent();
  ASSERT_EQ(open(agent).exit_code, 0);
  const auto token = std::to_string(session().token.value);
  const std::filesystem::path proc = "/proc/" + std::to_string(heartbeater_of(id_));
  EXPECT_NE(contents_of(proc / "cmdline").find(id_), std::string::npos);
  EXPECT_EQ(contents_of(proc / "cmdline").find(token), std::string::npos);
  EXPECT_EQ(contents_of(proc / "environ").find(token), std::string::npos);
  agent.signal(SIGKILL);
  EXPECT_TRUE(heartbeater_ends());
}

TEST_P(SessionWatch, KeepsTheSessionAliveAndClosesItWhenTheProcessEnds) {
  auto agent = start_agent();
  const auto opened = open(agent, {"--ttl", "2s"});
  ASSERT_EQ(opened.exit_code, 0) << opened.err;
  EXPECT_EQ(opened.err, "") << "a process on this host can see whether it lives";
  EXPECT_EQ(session().ends_by, session().opened_at + 24h);
  EXPECT_NE(heartbeater_of(id_), 0);
  ASSERT_TRUE(heartbeats_until(5s));
  const auto reason = "process " + std::to_string(agent.pid()) + " ended";
  agent.signal(SIGTERM);
  agent.finish(patience);
  ASSERT_TRUE(eventually([&] { return session().state == SessionState::released; }, patience));
  EXPECT_EQ(session().end_detail, reason);
  EXPECT_TRUE(heartbeater_ends());
}

// The threshold is far longer than the test's patience: that the process is gone is what frees the item.
TEST_P(SessionWatch, AfterKill9TheNextTakeSucceedsAtOnce) {
  auto agent = start_agent();
  ASSERT_EQ(open(agent, {"--ttl", "5m"}).exit_code, 0);
  must(store_.claims().take("SD-1", id_, {.create = true}));
  must(store_.sessions().open({.id = "ben"}));
  ASSERT_TRUE(fails(store_.claims().take("SD-1", "ben"), Errc::held));
  agent.signal(SIGKILL);
  ASSERT_EQ(agent.finish(patience).signal, SIGKILL);
  EXPECT_TRUE(ok(store_.claims().take("SD-1", "ben")));
  EXPECT_TRUE(heartbeater_ends());
}

TEST_P(SessionWatch, HasNothingOfItsCaller) {
  auto agent = start_agent();
  const auto inherited = folder_.file("inherited");
  const auto opened = support::run({"sh", "-c", "exec 7> " + inherited + "; exec \"$0\" \"$@\"", LEASEHOLD_TOOL,
                                    "session", "open", "--id", id_, "--watch-pid", std::to_string(agent.pid())},
                                   {{"LEASEHOLD_DB", test_store_.url()}});
  ASSERT_EQ(opened.exit_code, 0) << opened.err;
  const pid_t heartbeater = heartbeater_of(id_);
  ASSERT_NE(heartbeater, 0);
  EXPECT_EQ(::getsid(heartbeater), heartbeater) << "a session of its own";
  const std::filesystem::path proc = "/proc/" + std::to_string(heartbeater);
  EXPECT_EQ(std::filesystem::read_symlink(proc / "cwd"), "/");
  for (const auto& entry : std::filesystem::directory_iterator(proc / "fd")) {
    const auto target = std::filesystem::read_symlink(entry.path()).string();
    const bool its_own = target == "/dev/null" || target.starts_with("anon_inode:");
    EXPECT_TRUE(its_own) << entry.path().filename() << " is " << target;
  }
  EXPECT_EQ(contents_of(proc / "cmdline").find(test_store_.url()), std::string::npos) << "it may hold a password";
  EXPECT_NE(contents_of(proc / "environ").find("LEASEHOLD_DB=" + test_store_.url()), std::string::npos);
  agent.signal(SIGKILL);
  agent.finish(patience);
  EXPECT_TRUE(heartbeater_ends());
}

TEST_P(SessionWatch, OutlivesItsTerminal) {
  auto agent = start_agent();
  ASSERT_EQ(open(agent, {"--ttl", "2s"}).exit_code, 0);
  ::kill(heartbeater_of(id_), SIGHUP);
  const auto hung_up_at = session().heartbeat_at;
  EXPECT_TRUE(eventually([&] { return session().heartbeat_at > hung_up_at + 3s; }, patience));
}

TEST_P(SessionWatch, EndsAtTheAgeCapThoughTheProcessLives) {
  auto agent = start_agent();
  ASSERT_EQ(open(agent, {"--ttl", "10s", "--max-age", "5s"}).exit_code, 0);
  EXPECT_TRUE(heartbeater_ends());
  EXPECT_EQ(session().state, SessionState::released);
  EXPECT_EQ(session().end_detail, "it reached its maximum age");
  EXPECT_LE(session().heartbeat_at, session().opened_at + 5s);
  EXPECT_TRUE(is_alive(agent.pid()));
}

TEST_P(SessionWatch, ClosesTheSessionWhoseHeartbeatCameTooLate) {
  auto agent = start_agent();
  ASSERT_EQ(open(agent, {"--ttl", "1s"}).exit_code, 0);
  const pid_t heartbeater = heartbeater_of(id_);
  ASSERT_NE(heartbeater, 0);
  test_store_.freeze(heartbeater);
  EXPECT_TRUE(eventually([&] { return session().state == SessionState::stale; }, patience));
  ::kill(heartbeater, SIGCONT);
  EXPECT_TRUE(heartbeater_ends());
  EXPECT_EQ(session().state, SessionState::released);
  EXPECT_EQ(session().end_detail, "no heartbeat came in time");
}

TEST_P(SessionWatch, EndsWithTheSession) {
  auto agent = start_agent();
  ASSERT_EQ(open(agent, {"--ttl", "2s"}).exit_code, 0);
  must(store_.sessions().revoke(id_, "maintenance"));
  EXPECT_TRUE(heartbeater_ends());
  EXPECT_EQ(session().end_detail, "maintenance");
}

// A pid that was given to a later process is simulated by a start time that is not this process'.
TEST_P(SessionWatch, ALaterProcessWithThePidIsNotAdopted) {
  auto agent = start_agent();
  const auto grant = must(store_.sessions().open({.id = id_, .ttl = 1s}));
  const auto far = (BootClock::now() + 1h).time_since_epoch().count();
  const auto refused =
      support::run({LEASEHOLD_TOOL, "session", "watch", "--session=" + id_, "--pid=" + std::to_string(agent.pid()),
                    "--process-start=1", "--ttl=1s", "--until=" + std::to_string(far)},
                   {{"LEASEHOLD_DB", test_store_.url()}}, std::to_string(grant.token.value));
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(refused.err, "process " + std::to_string(agent.pid()) + " has ended");
  EXPECT_EQ(session().heartbeat_at, session().opened_at) << "not one heartbeat";
}

class SessionWatchAndPostgres : public ::testing::Test {
 protected:
  /// Is `id_` closed, and its heartbeater gone?
  [[nodiscard]] bool is_over() const {
    const auto session = store_.sessions().show(id_);
    return session && session->state == SessionState::released && heartbeater_of(id_) == 0;
  }

  const std::string id_ = "watched-" + std::to_string(::getpid());
  TempDir folder_;
  PostgresServer server_;
  const Store store_ = must(Store::open(server_.url(), {.migrate = MigrateOnOpen::yes}));
};

TEST_F(SessionWatchAndPostgres, TheEndOfAProcessIsReportedWhenTheServerIsBack) {
  auto agent = start_agent();
  const auto opened = run({LEASEHOLD_TOOL, "session", "open", "--id", id_, "--watch-pid", std::to_string(agent.pid()),
                           "--ttl", "30s", "--db", server_.url()});
  ASSERT_EQ(opened.exit_code, 0) << opened.err;
  server_.kill9();
  agent.signal(SIGKILL);
  agent.finish(patience);
  server_.restart();
  EXPECT_TRUE(eventually([&] { return is_over(); }, patience));
}

// The way to this store leads through a file beside the caller, which the heartbeater does not find.
TEST_F(SessionWatchAndPostgres, WithoutAHeartbeaterTheSessionIsClosedAgain) {
  auto agent = start_agent();
  std::ofstream(folder_.file("service.conf")) << "[beside]\nconnect_timeout=5\n";
  const auto refused =
      run({"sh", "-c", "cd " + folder_.path().string() + "; exec \"$0\" \"$@\"", LEASEHOLD_TOOL, "session", "open",
           "--id", id_, "--watch-pid", std::to_string(agent.pid()), "--db", server_.url() + "?service=beside"},
          {{"PGSERVICEFILE", "service.conf"}});
  EXPECT_EQ(refused.exit_code, 1) << refused.err;
  EXPECT_EQ(refused.out, "");
  EXPECT_NE(refused.err.find("cannot start the heartbeater: "), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("service.conf"), std::string::npos) << refused.err;
  EXPECT_TRUE(is_over());
}

}  // namespace
}  // namespace leasehold::support
