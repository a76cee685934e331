// job.settle: many verdicts in one call, each with its own answer.
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "act/act.h"
#include "cli/schema_check.h"
#include "model/json.h"
#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

namespace json = boost::json;

class SettleManyTest : public StoreTest {
 protected:
  /// Verdicts that complete the jobs of a grant.
  static json::array completing(const JobGrant& grant) {
    json::array all;
    for (const auto& job : grant.jobs) {
      all.push_back(json::object{{"id", job.id}, {"token", job.token.value}, {"verdict", "complete"}});
    }
    return all;
  }
  JobGrant claimed(int count) {
    must(jobs().enqueue("mail", std::vector<NewJob>(static_cast<std::size_t>(count), NewJob{.payload = "1"})));
    return must(jobs().claim("mail", {.max = count, .ttl = 30s}));
  }
  static Result<std::string> perform(const Store& store, json::array settlements) {
    const auto* act = act::find("job.settle");
    return act::call(store, *act, json::serialize(json::object{{"settlements", std::move(settlements)}}));
  }
  json::object settle(json::array settlements) {
    const auto answer = must(perform(store(), std::move(settlements)));
    const auto value = json::parse(answer);
    const auto schema = json::parse(model::schema_of(act::find("job.settle")->answer())).as_object();
    EXPECT_EQ(problem(value, schema), "") << answer;
    return value.as_object();
  }
  /// The refusal of settlements of which the last one is wrong.
  std::pair<std::string, std::string> refused(json::object wrong) {
    const auto answer = perform(store(), {{{"id", 1}, {"token", 1}, {"verdict", "complete"}}, std::move(wrong)});
    EXPECT_TRUE(fails(answer, Errc::invalid_argument));
    const auto error = answer ? json::object() : json::parse(model::to_json(answer.error())).at("error").as_object();
    return {std::string(error.at("field").as_string()), std::string(error.at("message").as_string())};
  }
};
LEASEHOLD_ON_BOTH_STORES(SettleManyTest);

TEST_P(SettleManyTest, EachVerdictIsTaken) {
  const auto grant = claimed(4);
  auto verdicts = completing(grant);
  verdicts[0].as_object()["result"] = json::object{{"sent", true}};
  verdicts[1].as_object()["verdict"] = "fail";
  verdicts[1].as_object()["error"] = "no route to host";
  verdicts[2].as_object()["verdict"] = "release";
  verdicts[3].as_object()["verdict"] = "snooze";
  verdicts[3].as_object()["delay"] = "10m";
  const auto answer = settle(verdicts);
  EXPECT_EQ(answer.at("settled"), 4);
  EXPECT_EQ(answer.at("refused"), 0);
  const auto state_of = [&](std::size_t i) { return answer.at("items").at(i).at("state").as_string(); };
  EXPECT_EQ(state_of(0), "completed");
  EXPECT_EQ(state_of(1), "deferred");
  EXPECT_EQ(state_of(2), "available");
  EXPECT_EQ(state_of(3), "deferred");
  EXPECT_FALSE(answer.at("items").at(3).at("due_at").is_null());
  EXPECT_EQ(must(jobs().result(grant.jobs[0].id)), R"({"sent":true})");
  EXPECT_EQ(must(jobs().attempts(grant.jobs[1].id)).front().error, "no route to host");
}

TEST_P(SettleManyTest, ALateHolderAmongAHundredDoesNotSpoilTheOthers) {
  must(jobs().enqueue("mail", NewJob{.payload = "1"}));
  const auto late = must(jobs().claim("mail", {.ttl = 30s}));
  advance(31s);
  const auto again = must(jobs().claim("mail", {.ttl = 10min}));
  ASSERT_EQ(again.jobs.front().id, late.jobs.front().id);
  auto verdicts = completing(claimed(99));
  verdicts.insert(verdicts.begin() + 40, completing(late).front());
  const auto answer = settle(verdicts);
  EXPECT_EQ(answer.at("settled"), 99);
  EXPECT_EQ(answer.at("refused"), 1);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const auto& item = answer.at("items").at(i).as_object();
    EXPECT_EQ(item.at("id"), verdicts[i].at("id")) << i;
    EXPECT_EQ(item.contains("error"), i == 40) << i;
  }
  EXPECT_EQ(answer.at("items").at(40).at("error").at("code"), "lost");
  EXPECT_EQ(answer.at("items").at(40).at("error").at("lost_reason"), "expired");
  EXPECT_EQ(must(jobs().show(late.jobs.front().id)).state, JobState::running) << "the other holder still has it";
}

TEST_P(SettleManyTest, OfTwoVerdictsOnOneJobTheFirstCounts) {
  auto verdicts = completing(claimed(1));
  verdicts.push_back(verdicts.front());
  auto other = verdicts.front().as_object();
  other["verdict"] = "fail";
  verdicts.push_back(other);
  const auto answer = settle(verdicts);
  EXPECT_EQ(answer.at("settled"), 2);
  EXPECT_FALSE(answer.at("items").at(0).at("replayed").as_bool());
  EXPECT_TRUE(answer.at("items").at(1).at("replayed").as_bool());
  EXPECT_EQ(answer.at("items").at(2).at("error").at("code"), "lost");
}

TEST_P(SettleManyTest, TheSameCallAgainChangesNothingMore) {
  const auto verdicts = completing(claimed(3));
  settle(verdicts);
  const auto before = dump();
  const auto answer = settle(verdicts);
  EXPECT_EQ(answer.at("settled"), 3);
  EXPECT_TRUE(answer.at("items").at(2).at("replayed").as_bool());
  EXPECT_EQ(dump(), before);
}

TEST_P(SettleManyTest, AWrongElementIsNamedAndNothingIsSettled) {
  const auto before = dump();
  using Refusal = std::pair<std::string, std::string>;
  EXPECT_EQ(refused({{"id", 2}, {"verdict", "complete"}}), (Refusal{"settlements[1].token", "\"token\" is missing"}));
  EXPECT_EQ(refused({{"id", 2}, {"token", 1}, {"verdict", "skip"}}),
            (Refusal{"settlements[1].verdict", "\"verdict\" is not one of complete, fail, release, snooze"}));
  EXPECT_EQ(refused({{"id", 2}, {"token", 1}, {"verdict", "snooze"}}),
            (Refusal{"settlements[1].delay_seconds", "\"delay_seconds\" is missing"}));
  EXPECT_EQ(refused({{"id", 2}, {"token", 1}, {"verdict", "fail"}, {"result", 1}}),
            (Refusal{"settlements[1].result", "\"result\" belongs to the verdict complete"}));
  EXPECT_EQ(refused({{"id", 2}, {"token", 1}, {"verdict", "snooze"}, {"delay_seconds", -1}}).first,
            "settlements[1].delay_seconds");
  EXPECT_EQ(refused({{"id", 2}, {"token", 1}, {"verdict", "complete"}, {"resul", 1}}),
            (Refusal{"settlements[1].resul", "unknown key \"resul\": did you mean result?"}));
  EXPECT_EQ(dump(), before);
}

TEST_P(SettleManyTest, NoVerdictsAreSettledAtOnce) {
  const auto answer = settle({});
  EXPECT_EQ(answer.at("settled"), 0);
  EXPECT_TRUE(answer.at("items").as_array().empty());
}

}  // namespace
}  // namespace leasehold::support
