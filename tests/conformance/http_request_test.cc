// HTTP requests that their callers repeat with one key.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <thread>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class HttpRequestTest : public StoreTest {
 protected:
  Access access() { return store().access(); }
  static NewRequest request(const std::string& who = "mailer") {
    return {.key = "k-1", .who = who, .act = "job.claim", .digest = "d-1"};
  }
  BegunRequest begin() { return must(access().begin_request(request())); }
};
LEASEHOLD_ON_BOTH_STORES(HttpRequestTest);

TEST_P(HttpRequestTest, AFinishedRequestIsReplayed) {
  const auto first = begin();
  EXPECT_EQ(first.state, RequestState::fresh);
  EXPECT_FALSE(first.request_id.empty());
  advance(1s);
  EXPECT_TRUE(must(access().finish_request("k-1", "mailer", 200, R"({"granted":true})")));
  advance(1h);
  const auto again = begin();
  EXPECT_EQ(again.state, RequestState::replay);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.answer, R"({"granted":true})");
  EXPECT_EQ(again.request_id, first.request_id);
  EXPECT_EQ(again.since, now() - 1h);
}

TEST_P(HttpRequestTest, TheFirstOneIsStillRunning) {
  begin();
  const auto began = now();
  advance(defaults::request_running - 1us);
  const auto again = begin();
  EXPECT_EQ(again.state, RequestState::running);
  EXPECT_EQ(again.since, began);
  EXPECT_TRUE(again.turn.empty());
}

TEST_P(HttpRequestTest, ADeadServersRequestIsFreshAgainWithTheSameRequestId) {
  const auto first = begin();
  advance(defaults::request_running);
  const auto again = begin();
  EXPECT_EQ(again.state, RequestState::fresh);
  EXPECT_EQ(again.request_id, first.request_id);
  EXPECT_EQ(begin().state, RequestState::running) << "only one performs it";
}

TEST_P(HttpRequestTest, ARequestIdGivesTheFirstAnswerAgainAfterItsServerDied) {
  must(jobs().enqueue("mail", NewJob{.payload = "x"}));
  const auto claim = [&](const std::string& request_id) {
    JobClaimOptions options;
    options.request_id = request_id;
    return must(store().jobs().claim("mail", options));
  };
  const auto granted = claim(begin().request_id);
  advance(defaults::request_running);
  const auto again = claim(begin().request_id);
  EXPECT_EQ(again.token, granted.token);
  EXPECT_TRUE(again.replayed);
}

TEST_P(HttpRequestTest, ALateFinishDoesNotReplaceTheAnswer) {
  begin();
  advance(defaults::request_running);
  begin();
  EXPECT_TRUE(must(access().finish_request("k-1", "mailer", 200, "second")));
  EXPECT_FALSE(must(access().finish_request("k-1", "mailer", 200, "late"))) << "the first answer stays";
  EXPECT_EQ(begin().answer, "second");
}

TEST_P(HttpRequestTest, ALateFinishIsKeptIfItComesFirst) {
  begin();
  advance(defaults::request_running);
  begin();
  EXPECT_TRUE(must(access().finish_request("k-1", "mailer", 200, "late")));
  EXPECT_EQ(begin().answer, "late");
}

TEST_P(HttpRequestTest, AnotherBodyOrActIsAnotherRequest) {
  begin();
  auto other = request();
  other.digest = "d-2";
  EXPECT_EQ(must(access().begin_request(other)).state, RequestState::other_body);
  other = request();
  other.act = "job.complete";
  EXPECT_EQ(must(access().begin_request(other)).state, RequestState::other_body);
  must(access().finish_request("k-1", "mailer", 200, "{}"));
  EXPECT_EQ(must(access().begin_request(other)).state, RequestState::other_body);
  EXPECT_TRUE(must(access().begin_request(other)).answer.empty()) << "it learns nothing about the answer";
}

TEST_P(HttpRequestTest, CallersHaveKeysOfTheirOwn) {
  begin();
  must(access().finish_request("k-1", "mailer", 200, "mine"));
  const auto other = must(access().begin_request(request("printer")));
  EXPECT_EQ(other.state, RequestState::fresh);
  EXPECT_NE(other.request_id, begin().request_id);
}

TEST_P(HttpRequestTest, ADroppedRequestIsFreshAtOnce) {
  const auto first = begin();
  EXPECT_TRUE(must(access().drop_request("k-1", "mailer", first.turn)));
  const auto again = begin();
  EXPECT_EQ(again.state, RequestState::fresh);
  EXPECT_EQ(again.request_id, first.request_id);
  EXPECT_FALSE(must(access().drop_request("k-1", "mailer", first.turn))) << "another call performs it now";
  EXPECT_EQ(begin().state, RequestState::running);
  must(access().finish_request("k-1", "mailer", 200, "{}"));
  EXPECT_FALSE(must(access().drop_request("k-1", "mailer", again.turn))) << "it was finished";
}

TEST_P(HttpRequestTest, ItIsForgottenAfterADay) {
  const auto first = begin();
  must(access().finish_request("k-1", "mailer", 200, "{}"));
  advance(defaults::request_kept - 1us);
  EXPECT_EQ(begin().state, RequestState::replay);
  advance(1us);
  const auto again = begin();
  EXPECT_EQ(again.state, RequestState::fresh);
  EXPECT_NE(again.request_id, first.request_id);
}

TEST_P(HttpRequestTest, PruneRemovesWhatIsForgotten) {
  begin();
  EXPECT_EQ(must(store().prune(0s)).requests, 0) << "it may still be repeated";
  advance(defaults::request_kept + 1us);
  EXPECT_EQ(must(store().prune_preview(0s)).requests, 1);
  EXPECT_EQ(must(store().prune(0s)).requests, 1);
  EXPECT_FALSE(must(access().finish_request("k-1", "mailer", 200, "{}")));
}

TEST_P(HttpRequestTest, AnswersAreBytes) {
  begin();
  const std::string bytes("\x00\xff\\\"'", 5);
  must(access().finish_request("k-1", "mailer", 200, bytes));
  EXPECT_EQ(begin().answer, bytes);
  EXPECT_TRUE(fails(access().finish_request("k-1", "mailer", 200, std::string(bounds::request_answer_bytes + 1, 'x')),
                    Errc::invalid_argument));
}

TEST_P(HttpRequestTest, Of16ThreadsWithOneKeyExactlyOneIsFresh) {
  std::vector<Store> stores;
  for (int i = 0; i < 4; ++i) stores.push_back(open());
  const auto race = [&](RequestState others) {
    std::atomic<int> fresh = 0;
    std::atomic<int> rest = 0;
    std::barrier start(16);
    std::vector<std::jthread> racers;
    for (std::size_t i = 0; i < 16; ++i) {
      racers.emplace_back([&, i] {
        start.arrive_and_wait();
        const auto begun = stores[i % 4].access().begin_request(request());
        if (begun && begun->state == RequestState::fresh) ++fresh;
        if (begun && begun->state == others) ++rest;
      });
    }
    racers.clear();
    EXPECT_EQ(fresh, 1);
    EXPECT_EQ(rest, 15);
  };
  race(RequestState::running);
  advance(defaults::request_running);
  race(RequestState::running);
  advance(defaults::request_kept);
  race(RequestState::running);
}

}  // namespace
}  // namespace leasehold::support
