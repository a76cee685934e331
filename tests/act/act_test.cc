// Acts: every example runs on both stores, its answer is as its schema says, and each refusal is in the act's list.
#include "act/act.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <map>

#include "cli/schema_check.h"
#include "model/json.h"
#include "model/keys.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class ActTest : public StoreTest {
 protected:
  /// The answer, checked against its schema; of a refusal the error, which the act must list.
  json::object answer_of(const act::Act& act, const std::string& arguments) {
    const auto answer = act::call(store(), act, arguments);
    if (!answer) {
      EXPECT_TRUE(act::may_answer(act, answer.error().code)) << act.name << ": " << answer.error().message;
      EXPECT_NE(answer.error().code, Errc::invalid_argument) << act.name << ": " << answer.error().message;
      return json::parse(model::to_json(answer.error())).as_object();
    }
    const auto value = json::parse(*answer);
    EXPECT_EQ(problem(value, json::parse(model::schema_of(act.answer())).as_object()), "") << act.name << *answer;
    return value.as_object();
  }
  json::object call(std::string_view name, const std::string& arguments) {
    const auto* act = act::find(name);
    EXPECT_NE(act, nullptr) << name;
    return act != nullptr ? answer_of(*act, arguments) : json::object();
  }

  /// Holds what the example of an act is about, so that the act has something to do.
  void prepare(std::string_view feature) {
    if (feature == "lock") note(feature, call("lock.acquire", R"({"name":"deploy"})"));
    if (feature == "job") {
      call("job.enqueue", R"({"queue":"mail","batch":"import-7"})");
      const auto grant = call("job.claim", R"({"queue":"mail"})");
      if (const auto* jobs = grant.if_contains("jobs")) note(feature, jobs->at(0).as_object());
    }
    if (feature == "chunk") {
      call("chunk.plan_range", R"({"set":"orders","first":1,"last":400,"size":100})");
      call("chunk.reset", R"({"set":"orders","which":"all"})");
      const auto grant = call("chunk.claim", R"({"set":"orders","key":"1-100"})");
      if (const auto* chunks = grant.if_contains("chunks")) note(feature, chunks->at(0).as_object());
    }
    if (feature == "session" || feature == "claim" || feature == "item" || feature == "path") prepare_session(feature);
    if (feature == "schedule") {
      call("schedule.set", R"({"name":"refresh","every_min_seconds":600,"every_max_seconds":900})");
      call("schedule.trigger", R"({"name":"refresh"})");
      note(feature, call("schedule.acquire", R"({"name":"refresh"})"));
    }
  }
  void prepare_session(std::string_view feature) {
    call("session.open", R"({"id":"agent-2"})");
    const auto session = call("session.open", R"({"id":"agent-1"})");
    note("session", session);
    if (feature == "session" || feature == "path") return;
    call("item.add", R"({"key":"SD-1"})");
    call("item.reopen", R"({"key":"SD-1"})");
    json::object take{{"key", "SD-1"}, {"session", "agent-1"}, {"session_token", tokens_["session"]}};
    note(feature, call("claim.take", json::serialize(take)));
  }

  /// The example with the tokens and ids of what this test holds.
  std::string filled_in(const act::Act& act) {
    const auto feature = feature_of(act);
    auto arguments = json::parse(act.example).as_object();
    if (arguments.contains("token") && tokens_.contains(feature)) arguments["token"] = tokens_[feature];
    if (arguments.contains("session_token")) arguments["session_token"] = tokens_["session"];
    for (const auto* key : {"id", "job_id"}) {
      if (const auto* id = arguments.if_contains(key); id != nullptr && id->is_int64()) arguments[key] = job_id_;
    }
    return json::serialize(arguments);
  }
  static std::string feature_of(const act::Act& act) { return std::string(act.name.substr(0, act.name.find('.'))); }

 private:
  void note(std::string_view feature, const json::object& answer) {
    if (const auto* token = answer.if_contains("token")) tokens_[std::string(feature)] = token->as_int64();
    if (const auto* id = answer.if_contains("id"); id != nullptr && id->is_int64()) job_id_ = id->as_int64();
  }

  std::map<std::string, std::int64_t> tokens_;
  std::int64_t job_id_ = 17;
};
LEASEHOLD_ON_BOTH_STORES(ActTest);

/// The acts that the holds of this test block. Rows: no table is adopted here; their tests are in tests/adopt.
const std::set<std::string> refused_here = {"chunk.skip held",      "chunk.tie_job busy",    "claim.next empty",
                                            "claim.release lost",   "item.remove held",      "job.batch not_found",
                                            "job.remove held",      "job.retry held",        "job.wait busy",
                                            "lock.acquire reentry", "schedule.acquire held", "schedule.fire not_found",
                                            "schedule.remove held", "session.open held",     "token.revoke not_found"};

TEST_P(ActTest, EveryExampleIsAnsweredAsItsSchemaSays) {
  for (const auto& act : act::all()) {
    if (feature_of(act) == "row") continue;
    prepare(feature_of(act));
    const auto answer = answer_of(act, filled_in(act));
    const auto* error = answer.size() == 1 ? answer.if_contains("error") : nullptr;
    if (error != nullptr) {
      const auto refusal = std::string(act.name) + " " + std::string(error->at("code").as_string());
      EXPECT_TRUE(refused_here.contains(refusal)) << json::serialize(answer);
    }
    advance(1s);
  }
}

TEST_P(ActTest, ATableThatIsNotAdoptedIsNotFound) {
  for (const auto& act : act::all()) {
    if (feature_of(act) != "row") continue;
    EXPECT_EQ(answer_of(act, std::string(act.example)).at("error").at("code"), "not_found") << act.name;
  }
}

TEST_P(ActTest, ACallByNameAnswersJsonAlways) {
  EXPECT_TRUE(json::parse(act::call(store(), "lock.acquire", R"({"name":"deploy"})")).at("token").is_int64());
  const auto held =
      json::parse(act::call(store(), "lock.acquire", R"({"name":"deploy"})", {.holder = Holder::self("ben")}));
  EXPECT_TRUE(held.at("error").as_object().contains("code"));
  const auto unknown = json::parse(act::call(store(), "lock.aquire", "{}"));
  EXPECT_EQ(unknown.at("error").at("message"), "there is no act \"lock.aquire\": did you mean lock.acquire?");
}

TEST_P(ActTest, WrongArgumentsChangeNothing) {
  const auto before = dump();
  const auto* act = act::find("job.claim");
  const auto message_of = [&](const std::string& arguments) {
    const auto answer = act::call(store(), *act, arguments);
    return answer ? std::string("answered") : answer.error().message;
  };
  EXPECT_EQ(message_of("{}"), "\"queue\" is missing");
  EXPECT_EQ(message_of(R"({"queue":null})"), "\"queue\" is missing");
  EXPECT_EQ(message_of(R"({"queue":"mail","holdr":"ann"})"), "unknown key \"holdr\": did you mean holder?");
  EXPECT_EQ(message_of(R"({"queue":"mail","max":0})"), "max is 0, not between 1 and 1000");
  EXPECT_EQ(message_of("[]"), "this is not a JSON object: \"[]\"");
  EXPECT_EQ(message_of(R"({"queue":7})"), "\"queue\" is not a string");
  EXPECT_EQ(dump(), before);
}

TEST_P(ActTest, PayloadsAreJsonAndOtherBytesAreBase64) {
  call("job.enqueue", R"({"queue":"mail","payload":{"n":1.0e400}})");
  call("job.enqueue", R"({"queue":"mail","payload_base64":"/w=="})");
  const auto* claim = act::find("job.claim");
  const auto answer = act::call(store(), *claim, R"({"queue":"mail","max":2})");
  ASSERT_TRUE(ok(answer));
  EXPECT_NE(answer->find(R"("payload":{"n":1.0e400})"), std::string::npos) << *answer;
  EXPECT_NE(answer->find(R"("payload_base64":"/w==")"), std::string::npos) << *answer;
}

TEST_P(ActTest, ARefusalHasNoToken) {
  call("lock.acquire", R"({"name":"deploy","holder":"ann"})");
  const auto* acquire = act::find("lock.acquire");
  const auto refused = act::call(store(), *acquire, R"({"name":"deploy","holder":"ben"})");
  ASSERT_FALSE(refused);
  const auto held_by = json::parse(model::to_json(refused.error())).at("error").at("held_by");
  EXPECT_EQ(held_by.at("holder").at("name"), "ann");
  EXPECT_TRUE(held_by.at("token").is_null());
}

TEST_P(ActTest, AFolderOfAnotherSessionIsHeld) {
  const auto session_and_paths = [&](const std::string& id, const char* path) {
    const auto session = call("session.open", R"({"id":")" + id + "\"}");
    return json::serialize(
        json::object{{"session", id}, {"session_token", session.at("token")}, {"paths", json::array{path}}});
  };
  const auto folder = session_and_paths("ann", "/srv/app/src");
  EXPECT_EQ(call("path.take", folder).at("added"), 1);
  const auto file = session_and_paths("ben", "/srv/app/src/a.cc");
  const auto error = call("path.take", file).at("error");
  EXPECT_EQ(error.at("code"), "held");
  EXPECT_EQ(error.at("held_by").at("session"), "ann");
  EXPECT_TRUE(error.at("held_by").at("token").is_null());
  EXPECT_EQ(call("path.list", "{}").at("items").as_array().size(), 1);
  EXPECT_EQ(call("path.release", folder).at("released"), 1);
  EXPECT_EQ(call("path.take", file).at("added"), 1);
}

/// SQLite has no roles.
class ActScopeTest : public ActTest {};
INSTANTIATE_TEST_SUITE_P(Stores, ActScopeTest, ::testing::Values(StoreKind::postgres), store_name);

TEST_P(ActScopeTest, IsThatOfTheSqlFunction) {
  std::map<std::string, std::string> scopes;
  for (const auto& row : under_test().rows(
           "SELECT p.proname, substring(obj_description(p.oid, 'pg_proc') FROM 'Scope: (\\w+)') FROM pg_proc p "
           "WHERE p.pronamespace = '" +
           under_test().schema() + "'::regnamespace")) {
    if (row.at(1)) scopes[*row.at(0)] = *row.at(1);
  }
  for (const auto& act : act::all()) {
    if (act.sql.empty()) continue;
    EXPECT_EQ(scopes[std::string(act.sql)], act::word_of(act.scope)) << act.name;
  }
}

TEST(Acts, EveryArgumentHasAMeaning) {
  const auto check = [](const auto& again, const act::Act& act, const model::Described& type) -> void {
    for (const auto& field : type.fields) {
      if (field.kind == model::Kind::inlined) again(again, act, field.type());
      if (field.kind == model::Kind::inlined || field.kind == model::Kind::hidden) continue;
      EXPECT_NE(model::meaning_of_argument(field), "") << act.name << ": " << field.name;
    }
  };
  for (const auto& act : act::all()) {
    check(check, act, act.arguments());
  }
}

TEST(Acts, NamesAreUniqueAndReadsAreIdempotent) {
  std::set<std::string_view> names;
  for (const auto& act : act::all()) {
    EXPECT_TRUE(names.insert(act.name).second) << act.name;
    EXPECT_TRUE(act.idempotent || !act::only_reads(act)) << act.name;
    EXPECT_FALSE(act.help.empty()) << act.name;
  }
}

}  // namespace
}  // namespace leasehold::support
