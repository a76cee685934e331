// The transport with a handler that only repeats: what it lets in, what it refuses, and how it ends.
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "base/pool.h"
#include "serve/http_client.h"
#include "serve/transport.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;

/// Answers with what it got. "/strangers" takes no large bodies. "/wait" answers once the client is gone or the server
/// drains; "/stream" streams.
class Echo : public serve::Handler {
 public:
  std::variant<std::size_t, serve::Response> admit(const serve::Request& head) override {
    if (head.path == "/no") return serve::Response{.status = 403, .body = "no"};
    return std::size_t(100'000);
  }
  void vet(serve::Request head, std::function<void(serve::Response)> answer) override {
    pool_.run([is_stranger = head.path == "/strangers", answer = std::move(answer)] {
      answer({.status = is_stranger ? 401 : 100});
    });
  }
  void handle(serve::Request request, std::function<void(serve::Response)> answer) override {
    if (request.path == "/stream") return answer({.stream = stream});
    if (request.path == "/forget") return;
    pool_.run([this, request = std::move(request), answer = std::move(answer)] {
      if (request.path == "/wait") wait(request.gone);
      answer({.headers = {{"X-Method", request.method}, {"X-Query", request.query}}, .body = request.body});
    });
  }
  serve::Response refuse(const serve::Request& head, int status, std::string_view why) override {
    return {.status = status, .headers = {{"X-Method", head.method}, {"X-Peer", head.peer}}, .body = std::string(why)};
  }

  /// Until so many requests have begun to wait.
  bool until_waiting(int count) {
    return eventually([&] { return waiting_ >= count; }, 30s);
  }
  bool until_stopped(int count) {
    return eventually([&] { return stopped_ >= count; }, 30s);
  }
  void finish() { pool_.finish(); }

  std::shared_ptr<serve::Stream> stream = std::make_shared<serve::Stream>();

 private:
  void wait(const std::stop_token& gone) {
    ++waiting_;
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    stopped.wait(lock, gone, [] { return false; });
    ++stopped_;
  }

  std::atomic<int> waiting_ = 0;
  std::atomic<int> stopped_ = 0;
  Pool pool_{8};
};

class TransportTest : public testing::Test {
 protected:
  ~TransportTest() override { end(); }

  void start(const serve::Limits& limits = {}, serve::ListenAddress address = {.host = "127.0.0.1"}) {
    auto opened = serve::Transport::open({std::move(address)}, limits, echo_);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    transport_ = std::move(*opened);
    thread_ = std::thread([this] { transport_->run(); });
  }
  void end() {
    if (!thread_.joinable()) return;
    transport_->drain();
    thread_.join();
    echo_.finish();
  }
  [[nodiscard]] HttpClient client() const { return HttpClient(transport_->addresses().front()); }
  /// The status for these bytes, after which the server must close the connection.
  int refusal_of(const std::string& bytes) const {
    auto one = client();
    one.send(bytes);
    const auto answer = one.read();
    EXPECT_EQ(answer.headers.get("Connection"), "close") << bytes;
    EXPECT_TRUE(one.is_closed()) << bytes;
    return answer.status;
  }
  /// The status for a request with a body of 8 MB, from a client that reads only when it has sent all of it; 0 if it
  /// cannot.
  int status_after_body(const std::string& head) const {
    auto one = client();
    const bool sent = one.send(head + "Content-Length: 8000000\r\n\r\n" + std::string(8'000'000, 'x'));
    return sent ? one.read().status : 0;
  }

  Echo echo_;
  std::unique_ptr<serve::Transport> transport_;
  std::thread thread_;
};

TEST_F(TransportTest, AConnectionServesRequestAfterRequest) {
  start();
  auto one = client();
  for (int i = 0; i < 3; ++i) {
    const auto answer = one.ask("POST", "/x?a=1", std::string(50'000, 'a' + static_cast<char>(i)));
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, std::string(50'000, 'a' + static_cast<char>(i)));
    EXPECT_EQ(answer.headers.get("X-Query"), "a=1");
  }
  EXPECT_EQ(one.ask("POST", "/x", "\r\n \r\n").body, "\r\n \r\n") << "a body is no folded line";
  EXPECT_EQ(one.ask("HEAD", "/x").body, "");
  EXPECT_EQ(one.ask("GET", "/x").headers.get("X-Method"), "GET");
}

TEST_F(TransportTest, RequestsSentTogetherAreAnsweredInTheirOrder) {
  start();
  auto one = client();
  one.send(one.written("POST", "/1", "one") + one.written("POST", "/2", "two") + one.written("GET", "/3"));
  EXPECT_EQ(one.read().body, "one");
  EXPECT_EQ(one.read().body, "two");
  EXPECT_EQ(one.read().headers.get("X-Method"), "GET");
}

TEST_F(TransportTest, ChunkedBodiesAndExpectedOnesAreRead) {
  start();
  auto one = client();
  one.send("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  EXPECT_EQ(one.read().body, "abcde");
  one.send("POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(one.read_head().status, 100);
  one.send("abc");
  EXPECT_EQ(one.read().body, "abc");
}

TEST_F(TransportTest, TwoReadersCannotSeeDifferentRequests) {
  start();
  const std::string head = "POST / HTTP/1.1\r\nHost: localhost\r\n";
  EXPECT_EQ(refusal_of(head + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400);
  EXPECT_EQ(refusal_of(head + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n"), 400);
  EXPECT_EQ(refusal_of(head + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc"), 400);
  EXPECT_EQ(refusal_of(head + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc"), 400);
  EXPECT_EQ(refusal_of(head + "Content-Length: 3, 3\r\n\r\nabc"), 400);
  EXPECT_EQ(refusal_of(head + "Content-Length: +3\r\n\r\nabc"), 400);
  EXPECT_EQ(refusal_of(head + "Content-Length : 3\r\n\r\nabc"), 400);
  EXPECT_EQ(refusal_of(head + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), 501);
  EXPECT_EQ(refusal_of(head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400);
  EXPECT_EQ(refusal_of("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400);
  EXPECT_EQ(refusal_of(head + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n"), 400);
}

TEST_F(TransportTest, ARefusalKnowsWhoseItIs) {
  start({.head = 200ms, .body = 200ms});
  auto one = client();
  one.send("POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\na");
  const auto slow_body = one.read();
  EXPECT_EQ(slow_body.headers.get("X-Method"), "POST");
  EXPECT_EQ(slow_body.headers.get("X-Peer"), "127.0.0.1");
  auto two = client();
  two.send("GET / HTTP/1.1\r\nHost: loc");
  EXPECT_EQ(two.read().headers.get("X-Peer"), "127.0.0.1");
}

TEST_F(TransportTest, WhatIsNoRequestIsRefused) {
  start();
  EXPECT_EQ(refusal_of("GET / HTTP/1.1\r\nHost: localhost\r\nX: a\r\n Y: b\r\n\r\n"), 400) << "a folded line";
  EXPECT_EQ(refusal_of("GET / HTTP/1.1\r\nHost: localhost\r\nX: a\r\n\tb\r\n\r\n"), 400);
  EXPECT_EQ(refusal_of("GET / HTTP/1.1\r\n\r\n"), 400) << "no Host";
  EXPECT_EQ(refusal_of("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400);
  EXPECT_EQ(refusal_of("GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n"), 400);
  EXPECT_EQ(refusal_of("GET / HTTP/2.0\r\nHost: localhost\r\n\r\n"), 400);
  EXPECT_EQ(refusal_of("\x16\x03\x01 hello, this is TLS\r\n\r\n"), 400);
  EXPECT_EQ(refusal_of("GET / HTTP/1.1\r\nHost: localhost\r\nExpect: a miracle\r\n\r\n"), 417);
}

TEST_F(TransportTest, HeadsAndBodiesHaveALargestSize) {
  start();
  EXPECT_EQ(refusal_of("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n"), 431);
  EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100001\r\n\r\n"), 413);
  EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n186A1\r\n"), 413);
  // The handler refuses a head: its body is not read.
  EXPECT_EQ(refusal_of("POST /no HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"), 403);
}

TEST_F(TransportTest, AClientThatIsStillSendingGetsItsRefusal) {
  TempDir folder;
  for (const auto& address : {serve::ListenAddress{.host = "127.0.0.1"}, {.path = folder.file("http")}}) {
    start({}, address);
    EXPECT_EQ(status_after_body("POST / HTTP/1.1\r\nHost: localhost\r\n"), 413) << address.text();
    EXPECT_EQ(status_after_body("POST /no HTTP/1.1\r\nHost: localhost\r\n"), 403) << address.text();
    EXPECT_EQ(status_after_body("POST / HTTP/2.0\r\nHost: localhost\r\n"), 400) << address.text();
    end();
  }
}

TEST_F(TransportTest, SlowClientsAreNotWaitedFor) {
  start({.head = 200ms, .body = 200ms, .idle = 300ms});
  EXPECT_EQ(refusal_of("GET / HTTP/1.1\r\nHost: loc"), 408);
  EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\na"), 408);
  auto idle = client();
  EXPECT_TRUE(idle.is_closed());
}

TEST_F(TransportTest, AThousandIdleConnectionsDelayNoOther) {
  start();
  std::vector<HttpClient> idle;
  for (int i = 0; i < 500; ++i) {
    idle.push_back(client());
    idle.push_back(client());
    idle.back().send("GET / HTTP/1.1\r\n");
  }
  ASSERT_TRUE(eventually([&] { return transport_->connections() == 1000; }, 30s));
  EXPECT_EQ(client().ask("GET", "/").status, 200);
  EXPECT_EQ(idle.front().ask("GET", "/").status, 200);
}

TEST_F(TransportTest, BeyondItsMostConnectionsItSaysSo) {
  start({.connections = 2});
  const auto one = client();
  auto two = client();
  ASSERT_TRUE(eventually([&] { return transport_->connections() == 2; }, 30s));
  EXPECT_EQ(client().read().status, 503);
  EXPECT_EQ(two.ask("GET", "/").status, 200);
}

TEST_F(TransportTest, LargeBodiesShareTheMemory) {
  start({.body_memory = 30'000});
  auto one = client();
  one.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90000\r\n\r\n" + std::string(89'999, 'x'));
  // As soon as the server has read the first body, there is no room for another large one. A small one always has room.
  ASSERT_TRUE(eventually([&] { return client().ask("POST", "/", std::string(90'000, 'y')).status == 503; }, 30s));
  EXPECT_EQ(client().ask("POST", "/", std::string(65'536, 'z')).status, 200);
  one.send("x");
  EXPECT_EQ(one.read().status, 200);
  EXPECT_EQ(client().ask("POST", "/", std::string(90'000, 'y')).status, 200);
}

TEST_F(TransportTest, AnAnnouncedBodyTakesNoMemory) {
  start({.body_memory = 30'000});
  std::vector<HttpClient> halves;
  for (int i = 0; i < 3; ++i) {
    halves.push_back(client());
    halves.back().send("POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 90000\r\n\r\n");
    ASSERT_EQ(halves.back().read_head().status, 100);
  }
  EXPECT_EQ(client().ask("POST", "/", std::string(90'000, 'y')).status, 200);
}

TEST_F(TransportTest, ALargeBodyIsReadOnlyFromAKnownSender) {
  start();
  const std::string head = "POST /strangers HTTP/1.1\r\nHost: localhost\r\n";
  EXPECT_EQ(refusal_of(head + "Content-Length: 65537\r\n\r\n"), 401);
  EXPECT_EQ(refusal_of(head + "Transfer-Encoding: chunked\r\n\r\n"), 401);
  EXPECT_EQ(client().ask("POST", "/strangers", std::string(65'536, 'x')).status, 200);
  EXPECT_EQ(status_after_body(head), 413);
}

TEST_F(TransportTest, AWaitEndsWithItsClient) {
  start();
  auto one = client();
  one.send(one.written("GET", "/wait"));
  ASSERT_TRUE(echo_.until_waiting(1));
  one.close();
  EXPECT_TRUE(echo_.until_stopped(1));
}

TEST_F(TransportTest, AWaitEndsAfterItsLongestTime) {
  start({.wait = 200ms});
  EXPECT_EQ(client().ask("GET", "/wait").status, 200);
}

TEST_F(TransportTest, ARequestThatTheHandlerForgetsGets500) {
  start();
  auto one = client();
  EXPECT_EQ(one.ask("GET", "/forget").status, 500);
}

TEST_F(TransportTest, AStreamIsSentAsItIsWritten) {
  start();
  auto one = client();
  one.send(one.written("GET", "/stream"));
  EXPECT_EQ(one.read_head().headers.get("Transfer-Encoding"), "chunked");
  for (const auto* text : {"first", "second"}) {
    ASSERT_TRUE(echo_.stream->write(text));
    EXPECT_EQ(one.read_chunk(), text);
  }
  EXPECT_TRUE(eventually([&] { return echo_.stream->waiting() == 0; }));
  echo_.stream->write("last");
  echo_.stream->close();
  EXPECT_EQ(one.read_chunk(), "last");
  EXPECT_EQ(one.read_chunk(), "");
  EXPECT_FALSE(echo_.stream->write("too late"));
}

TEST_F(TransportTest, AStreamLearnsThatItsClientIsGone) {
  start();
  auto one = client();
  one.send(one.written("GET", "/stream"));
  ASSERT_EQ(one.read_head().status, 200);
  one.close();
  EXPECT_TRUE(eventually([&] { return echo_.stream->gone(); }, 30s));
}

TEST_F(TransportTest, WithHttp10AStreamEndsWithTheConnection) {
  start();
  auto one = client();
  one.send("GET /stream HTTP/1.0\r\n\r\n");
  EXPECT_EQ(one.read_head().headers.get("Connection"), "close");
  echo_.stream->write("all");
  echo_.stream->close();
  EXPECT_EQ(one.read_chunk(), std::nullopt);
}

TEST_F(TransportTest, ADrainAnswersWhatIsUnderWayAndClosesTheRest) {
  start();
  auto idle = client();
  ASSERT_EQ(idle.ask("GET", "/").status, 200);
  auto waiting = client();
  waiting.send(waiting.written("GET", "/wait"));
  auto streaming = client();
  streaming.send(streaming.written("GET", "/stream"));
  ASSERT_EQ(streaming.read_head().status, 200);
  ASSERT_TRUE(echo_.until_waiting(1));
  transport_->drain();
  EXPECT_TRUE(idle.is_closed());
  EXPECT_EQ(waiting.read().headers.get("Connection"), "close");
  // As long as something is under way, others are answered, too.
  EXPECT_EQ(client().ask("GET", "/").headers.get("Connection"), "close");
  echo_.stream->write("bye");
  echo_.stream->close();
  EXPECT_EQ(streaming.read_chunk(), "bye");
  thread_.join();
}

TEST_F(TransportTest, ADrainWaitsOnlySoLong) {
  start({.drain = 200ms});
  auto streaming = client();
  streaming.send(streaming.written("GET", "/stream"));
  ASSERT_EQ(streaming.read_head().status, 200);
  transport_->drain();
  thread_.join();
}

TEST_F(TransportTest, AUnixSocketIsForItsOwnerAndGroup) {
  const TempDir folder;
  const auto path = folder.file("http");
  start({}, {.path = path});
  EXPECT_EQ(client().ask("GET", "/").status, 200);
  struct stat found {};
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0660U);
  auto second = serve::Transport::open({{.path = path}}, {}, echo_);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Errc::unavailable);
  EXPECT_EQ(client().ask("GET", "/").status, 200) << "the first one still has it";
  end();
  EXPECT_NE(::stat(path.c_str(), &found), 0) << "its file is gone with it";
}

TEST_F(TransportTest, ATakenPortIsSaid) {
  start();
  const auto second = serve::Transport::open({transport_->addresses().front()}, {}, echo_);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find("cannot listen on 127.0.0.1:"), std::string::npos) << second.error().message;
}

}  // namespace
}  // namespace leasehold::support
