// `leasehold serve` as a process: it starts, drains on SIGTERM, survives kill -9 and talks to the service manager.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <sstream>

#include "serve/http_client.h"
#include "support/process.h"
#include "support/store_fixture.h"
#include "support/temp_dir.h"

namespace leasehold::support {
namespace {

class ServeProcessTest : public testing::TestWithParam<StoreKind> {
 protected:
  void start(const Arguments& more = {"--no-auth"}, const Environment& env = {}) {
    Arguments arguments = {LEASEHOLD_TOOL, "serve", "--db", store_.url(), "--listen", "unix:" + path()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    server_.emplace(Process::start(arguments, env));
    ASSERT_TRUE(eventually([&] { return answers(); }, 30s));
  }
  Process& server() { return *server_; }
  void forget_server() { server_.reset(); }
  [[nodiscard]] HttpClient client() const { return HttpClient({.path = path()}); }
  [[nodiscard]] std::string path() const { return folder_.file("http"); }
  HttpAnswer post(const std::string& act, const std::string& arguments) const {
    return client().ask("POST", "/api/v1/" + act, arguments);
  }
  static bool exists(const std::string& path) {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0;
  }
  TestStore& test_store() { return store_; }

 private:
  [[nodiscard]] bool answers() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path().copy(address.sun_path, sizeof address.sun_path - 1);
    const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int connected = ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::close(probe);
    return connected == 0;
  }

  TestStore store_{GetParam(), {.real_time = true}};
  TempDir folder_;
  std::optional<Process> server_;
};
LEASEHOLD_ON_BOTH_STORES(ServeProcessTest);

TEST_P(ServeProcessTest, SigtermEndsWaitsAndAnswersThem) {
  start();
  auto waiting = client();
  waiting.send(waiting.written("POST", "/api/v1/job/claim", R"({"queue":"mail","wait_seconds":50})"));
  // A request that is still being sent keeps the server up.
  auto slow = client();
  slow.send("POST /api/v1/job/list HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  ASSERT_EQ(slow.read_head().status, 100);
  server().signal(SIGTERM);
  EXPECT_FALSE(waiting.read().json().at("granted").as_bool());
  const auto not_ready = client().ask("GET", "/readyz");
  EXPECT_EQ(not_ready.status, 503);
  EXPECT_EQ(not_ready.headers.get("Retry-After"), "1");
  EXPECT_EQ(post("job/list", "{}").status, 503);
  slow.send("{}");
  EXPECT_EQ(slow.read().status, 200) << "it was admitted before";
  const auto finished = server().finish(30s);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_FALSE(exists(path()));
}

TEST_P(ServeProcessTest, ItsDeathIsNotThatOfItsHolders) {
  start();
  ASSERT_TRUE(
      post("lock/acquire", R"({"name":"deploy","holder":"ann","ttl_seconds":600})").json().at("granted").as_bool());
  server().signal(SIGKILL);
  EXPECT_EQ(server().finish(30s).signal, SIGKILL);
  ASSERT_TRUE(exists(path())) << "its socket stays";
  forget_server();
  start();
  const auto again = post("lock/acquire", R"({"name":"deploy","holder":"ben"})").json();
  EXPECT_FALSE(again.at("granted").as_bool());
  EXPECT_EQ(again.at("held_by").at("holder").at("name"), "ann");
}

TEST_P(ServeProcessTest, WithoutTokensAndATerminalTheLogSaysHowToGetIn) {
  start({});
  EXPECT_EQ(post("job/list", "{}").status, 401);
  server().signal(SIGTERM);
  const auto finished = server().finish(30s);
  EXPECT_EQ(finished.err.find("once="), std::string::npos) << "who reads the journal must not get in: " << finished.err;
  EXPECT_NE(finished.err.find("leasehold token create NAME --scope admin"), std::string::npos) << finished.err;
  std::istringstream lines(finished.err);
  for (std::string line; std::getline(lines, line);) EXPECT_TRUE(line.starts_with("{\"at\":")) << line;
}

TEST_P(ServeProcessTest, RefusalsOfTheTransportAreLogged) {
  start();
  auto large = client();
  large.send("POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n");
  EXPECT_EQ(large.read().code(), "too_large");
  auto gzip = client();
  gzip.send("POST /login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n");
  EXPECT_EQ(gzip.read().code(), "not_implemented");
  server().signal(SIGTERM);
  const auto finished = server().finish(30s);
  EXPECT_NE(finished.err.find(R"("method":"POST","path":"/login","status":413)"), std::string::npos) << finished.err;
  EXPECT_NE(finished.err.find(R"("method":"POST","path":"/login","status":501)"), std::string::npos) << finished.err;
}

/// A datagram socket as the service manager's.
class Manager {
 public:
  explicit Manager(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    const timeval patience{.tv_sec = 30, .tv_usec = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;
  ~Manager() { ::close(fd_); }
  std::string next() const {
    char text[200];
    const auto got = ::recv(fd_, text, sizeof text, 0);
    return got > 0 ? std::string(text, static_cast<std::size_t>(got)) : "";
  }

 private:
  int fd_;
};

TEST_P(ServeProcessTest, TheServiceManagerHearsOfIt) {
  const TempDir folder;
  const Manager manager(folder.file("notify"));
  start({"--no-auth"}, {{"NOTIFY_SOCKET", folder.file("notify")}, {"WATCHDOG_USEC", "300000"}});
  EXPECT_EQ(manager.next(), "WATCHDOG=1");
  EXPECT_EQ(manager.next(), "READY=1");
  EXPECT_EQ(manager.next(), "WATCHDOG=1");
  server().signal(SIGTERM);
  for (auto next = manager.next(); next != "STOPPING=1"; next = manager.next()) ASSERT_EQ(next, "WATCHDOG=1");
}

TEST_P(ServeProcessTest, TokensDoNotTravelInTheClear) {
  const auto refusal_of = [&](Arguments more) {
    Arguments arguments = {LEASEHOLD_TOOL, "serve", "--db", test_store().url()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto finished = run(arguments);
    EXPECT_EQ(finished.exit_code, 2) << finished.err;
    return finished.err;
  };
  EXPECT_NE(refusal_of({"--listen", "0.0.0.0:0"}).find("add --insecure"), std::string::npos);
  EXPECT_NE(refusal_of({"--listen", "0.0.0.0:0", "--insecure", "--no-auth"}).find("--no-auth is for loopback"),
            std::string::npos);
  EXPECT_NE(refusal_of({"--listen", "nowhere"}).find("unix:PATH"), std::string::npos);
  EXPECT_NE(refusal_of({"--base-path", "/a b"}).find("base path"), std::string::npos);
}

}  // namespace
}  // namespace leasehold::support
