// How sessions, items and claims look as JSON.
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "cli/noon.h"
#include "model/json.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;

SessionInfo busy_session() {
  SessionInfo session;
  session.id = "s-81f";
  session.metadata = R"({"id":123456789012345678901234567890})";
  session.ttl = 300s;
  session.opened_at = noon - 2h;
  session.heartbeat_at = noon - 125s;
  session.progress_at = noon - 1h;
  session.expires_at = noon + 175s;
  session.claims = 1;
  session.item = "SD-1";
  session.item_taken_at = noon - 41min - 59s;
  session.store_now = noon;
  return session;
}

TEST(SessionsJson, ASessionHasItsFiguresComputed) {
  const auto text = model::to_json(busy_session());
  const auto parsed = boost::json::parse(text);
  EXPECT_EQ(parsed.at("state"), "active");
  EXPECT_EQ(parsed.at("ttl_seconds"), 300);
  EXPECT_EQ(parsed.at("heartbeat_age_seconds"), 125);
  EXPECT_EQ(parsed.at("heartbeat_age_minutes"), 2);
  EXPECT_EQ(parsed.at("heartbeat_age_human"), "2m ago");
  EXPECT_EQ(parsed.at("progress_age_seconds"), 3600);
  EXPECT_EQ(parsed.at("progress_age_human"), "1h ago");
  EXPECT_EQ(parsed.at("seconds_until_stale"), 175);
  EXPECT_EQ(parsed.at("claim_duration_minutes"), 41);
  EXPECT_TRUE(parsed.at("parked_until").is_null());
  EXPECT_NE(text.find(R"("metadata":{"id":123456789012345678901234567890})"), std::string::npos) << text;
}

TEST(SessionsJson, ADeadSessionIsStaleAtOnceAndAClosedOneNever) {
  auto session = busy_session();
  session.state = SessionState::stale;
  EXPECT_EQ(boost::json::parse(model::to_json(session)).at("seconds_until_stale"), 0);
  session.expires_at = noon - 5s;
  EXPECT_EQ(boost::json::parse(model::to_json(session)).at("seconds_until_stale"), -5);
  session.state = SessionState::released;
  EXPECT_TRUE(boost::json::parse(model::to_json(session)).at("seconds_until_stale").is_null());
}

TEST(SessionsJson, ARefusalAnswersTheNextQuestion) {
  LeaseInfo owner;
  owner.kind = "item";
  owner.key = "SD-1";
  owner.state = LeaseState::running;
  owner.session = "s-81f";
  owner.label = "fixing the parser";
  owner.heartbeat_at = noon - 12s;
  owner.progress_at = noon - 3min;
  owner.taken_at = noon - 41min;
  owner.expires_at = noon + 288s;
  owner.store_now = noon;
  const Error refusal{.code = Errc::held, .message = "no", .held_by = owner};
  const auto current = boost::json::parse(model::to_json(refusal)).at("error").at("held_by");
  EXPECT_EQ(current.at("session"), "s-81f");
  EXPECT_EQ(current.at("label"), "fixing the parser");
  EXPECT_EQ(current.at("heartbeat_age_seconds"), 12);
  EXPECT_EQ(current.at("heartbeat_age_human"), "12s ago");
  EXPECT_EQ(current.at("progress_age_seconds"), 180);
  EXPECT_EQ(current.at("progress_age_human"), "3m ago");
  EXPECT_EQ(current.at("claim_duration_minutes"), 41);
  EXPECT_EQ(current.at("retry_in_seconds"), 288);
  owner.session.clear();
  EXPECT_FALSE(boost::json::parse(model::to_json(owner)).as_object().contains("label")) << "a lock has none";
}

TEST(SessionsJson, AnItemShowsItsOwner) {
  ItemInfo item;
  item.key = "SD-1";
  item.metadata = "[1,\n2]";
  item.conflicts = {"SD-2"};
  auto parsed = boost::json::parse(model::to_json(item));
  EXPECT_EQ(parsed.at("state"), "open");
  EXPECT_TRUE(parsed.at("session").is_null());
  EXPECT_TRUE(parsed.at("held_by").is_null());
  EXPECT_EQ(parsed.at("conflicts"), boost::json::array({"SD-2"}));
  EXPECT_EQ(parsed.at("metadata"), boost::json::array({1, 2}));
  item.state = ItemState::claimed;
  item.held_by = LeaseInfo{.session = "s-81f"};
  parsed = boost::json::parse(model::to_json(item));
  EXPECT_EQ(parsed.at("held_by").at("session"), "s-81f");
}

TEST(SessionsJson, AClaimThatHasEndedLastedUntilThen) {
  ClaimInfo claim;
  claim.key = "SD-1";
  claim.taken_at = noon - 41min;
  claim.ended_at = noon - 1min;
  claim.end_reason = "released";
  claim.store_now = noon;
  const auto parsed = boost::json::parse(model::to_json(claim));
  EXPECT_EQ(parsed.at("active"), false);
  EXPECT_EQ(parsed.at("claim_duration_minutes"), 40);
  EXPECT_EQ(parsed.at("end_reason"), "released");
  EXPECT_EQ(boost::json::parse(model::to_json(SessionClosed{"s-81f", {"SD-1", "SD-2"}})).at("items").as_array().size(),
            2U);
}

}  // namespace
}  // namespace leasehold::support
