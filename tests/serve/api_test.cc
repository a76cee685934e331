// Acts over HTTP: routes, arguments, answers and refusals, as curl sees them.
#include <boost/json/serialize.hpp>
#include <set>

#include "act/act.h"
#include "observe/metrics.h"
#include "serve/api.h"
#include "serve/server_fixture.h"

namespace leasehold::support {
namespace {

namespace json = boost::json;

class ApiTest : public ServerTest {
 protected:
  /// {"id":...,"token":...} of the claimed job, with more members.
  static std::string proof_in(const HttpAnswer& granted, const std::string& more = {}) {
    const auto value = granted.json();
    return fmt::format(R"({{"id":{},"token":{}{}}})", value.at("jobs").at(0).at("id").as_int64(),
                       value.at("token").as_int64(), more);
  }
};
LEASEHOLD_ON_BOTH_STORES(ApiTest);

TEST_P(ApiTest, AJobIsEnqueuedClaimedKeptAndCompleted) {
  start();
  const auto work = token(Scope::work);
  ASSERT_EQ(post("job/enqueue", R"({"queue":"mail","payload":{"to":"ann"}})", work).status, 200);
  const auto granted = post("job/claim", R"({"queue":"mail","ttl_seconds":30,"holder":"worker-7"})", work);
  ASSERT_EQ(granted.status, 200) << granted.body;
  EXPECT_TRUE(granted.json().at("granted").as_bool());
  EXPECT_EQ(post("job/heartbeat", proof_in(granted, R"(,"percent":40)"), work).status, 200);
  const auto leases = store().leases();
  ASSERT_TRUE(ok(leases));
  EXPECT_EQ(leases->items.front().holder.name, "worker-7");
  EXPECT_EQ(leases->items.front().holder.pid, 0) << "the end of the server must not end the lease";
  EXPECT_EQ(post("job/complete", proof_in(granted), work).status, 200);
}

TEST_P(ApiTest, ALateCompleteIsLost) {
  start();
  const auto work = token(Scope::work);
  post("job/enqueue", R"({"queue":"mail"})", work);
  const auto first = post("job/claim", R"({"queue":"mail","ttl_seconds":30})", work);
  advance(31s);
  ASSERT_TRUE(post("job/claim", R"({"queue":"mail"})", work).json().at("granted").as_bool());
  const auto late = post("job/complete", proof_in(first), work);
  EXPECT_EQ(late.status, 409);
  EXPECT_EQ(late.headers.get("Content-Type"), "application/problem+json");
  EXPECT_EQ(late.code(), "lost");
  EXPECT_TRUE(late.json().at("held_by").at("ttl_seconds").is_null()) << "unknown, not 0: " << late.body;
  EXPECT_EQ(late.json().at("request_id").as_string(), late.headers.get("X-Request-Id"));
}

TEST_P(ApiTest, ManyJobsAreClaimedAndSettledInTwoRequests) {
  start();
  const auto work = token(Scope::work, {"queue:mail"});
  post("job/enqueue_all", R"({"queue":"mail","jobs":[{"payload":1},{"payload":2},{"payload":3}]})", work);
  const auto grant = post("job/claim", R"({"queue":"mail","max":100})", work).json();
  ASSERT_EQ(grant.at("jobs").as_array().size(), 3U);
  json::array verdicts;
  for (const auto& job : grant.at("jobs").as_array()) {
    verdicts.push_back(json::object{{"id", job.at("id")}, {"token", job.at("token")}, {"verdict", "complete"}});
  }
  verdicts[1].as_object()["token"] = 5;
  const auto body = json::serialize(json::object{{"settlements", verdicts}});
  EXPECT_EQ(post("job/settle", body, token(Scope::work, {"queue:print"})).status, 403);
  const auto settled = post("job/settle", body, work);
  ASSERT_EQ(settled.status, 200) << settled.body;
  EXPECT_EQ(settled.json().at("settled"), 2);
  EXPECT_EQ(settled.json().at("items").at(1).at("error").at("code"), "lost");
  verdicts[2].as_object().erase("token");
  const auto wrong = post("job/settle", json::serialize(json::object{{"settlements", verdicts}}), work);
  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(wrong.json().at("field"), "settlements[2].token");
}

TEST_P(ApiTest, WithScopeReadAllFourAreForbidden) {
  start();
  const auto reader = token(Scope::read);
  for (const auto* act : {"job/enqueue", "job/claim", "job/heartbeat", "job/complete"}) {
    EXPECT_EQ(post(act, R"({"queue":"mail"})", reader).status, 403) << act;
  }
}

TEST_P(ApiTest, AnIdleWorkerMakesNoErrors) {
  start_without_auth();
  const auto idle = post("job/claim", R"({"queue":"mail"})");
  EXPECT_EQ(idle.status, 200);
  EXPECT_FALSE(idle.json().at("granted").as_bool());
  EXPECT_EQ(idle.code(), "empty");
  ASSERT_TRUE(post("lock/acquire", R"({"name":"deploy","holder":"ann"})").json().at("granted").as_bool());
  const auto held = post("lock/acquire", R"({"name":"deploy","holder":"ben"})").json();
  EXPECT_FALSE(held.at("granted").as_bool());
  EXPECT_EQ(held.at("code"), "held");
  EXPECT_EQ(held.at("held_by").at("holder").at("name"), "ann");
  EXPECT_TRUE(held.at("retry_in_seconds").is_number());
}

TEST_P(ApiTest, AClaimWaitsForItsJob) {
  start_without_auth();
  auto waiting = client();
  waiting.send(waiting.written("POST", "/api/v1/job/claim", R"({"queue":"mail","wait_seconds":30})"));
  post("job/enqueue", R"({"queue":"mail"})");
  EXPECT_TRUE(waiting.read().json().at("granted").as_bool());
}

TEST_P(ApiTest, ADrainEndsAWait) {
  start_without_auth();
  auto waiting = client();
  waiting.send(waiting.written("POST", "/api/v1/job/claim", R"({"queue":"mail","wait_seconds":30})"));
  // Answered after it: the wait is under way.
  ASSERT_EQ(get("/readyz").status, 200);
  server().drain();
  EXPECT_FALSE(waiting.read().json().at("granted").as_bool());
}

TEST_P(ApiTest, ActsThatOnlyReadTakeAQuery) {
  start_without_auth();
  post("job/enqueue", R"({"queue":"a/b %2F..","priority":3})");
  post("job/enqueue", R"({"queue":"other"})");
  const auto posted = post("job/list", R"({"queue":"a/b %2F..","max":5})");
  const auto got = get("/api/v1/job/list?queue=a%2Fb+%252F..&max=5");
  EXPECT_EQ(got.status, 200) << got.body;
  EXPECT_EQ(got.json().at("items").as_array().size(), 1U);
  EXPECT_EQ(posted.json().at("items").at(0).at("id"), got.json().at("items").at(0).at("id"));
  EXPECT_EQ(get("/api/v1/job/list?queue=a&queue=b").code(), "invalid_argument");
  EXPECT_EQ(get("/api/v1/job/list?max=many").json().at("field"), "max");
  EXPECT_EQ(get("/api/v1/job/list?queue=%zz").code(), "invalid_argument");
  EXPECT_EQ(client().ask("HEAD", "/api/v1/job/list").status, 200);
}

TEST_P(ApiTest, EachRefusalHasItsStatus) {
  start_without_auth();
  EXPECT_EQ(post("job/show", R"({"id":17})").status, 404);
  EXPECT_EQ(post("job/show", R"({"id":17})").code(), "not_found");
  const auto wrong = post("job/claim", R"({"queue":"mail","max":0})");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(wrong.json().at("field"), "max");
  EXPECT_EQ(post("job/claim", R"({"queue":"mail","holdr":"ann"})").json().at("message"),
            "unknown key \"holdr\": did you mean holder?");
  EXPECT_EQ(post("job/claim", "{").status, 400);
  EXPECT_EQ(post("job/claim", "").json().at("field"), "queue");
  const auto unknown = post("job/clam", "{}");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.json().at("message"), "there is nothing at \"/api/v1/job/clam\": did you mean /api/v1/job/claim?");
  const auto get_claim = get("/api/v1/job/claim?queue=mail");
  EXPECT_EQ(get_claim.status, 405);
  EXPECT_EQ(get_claim.headers.get("Allow"), "POST");
  EXPECT_EQ(client().ask("DELETE", "/api/v1/job/list").headers.get("Allow"), "GET, HEAD, POST");
  EXPECT_EQ(post("session/mine", "{}").status, 404) << "it is about the server's own process";
}

TEST_P(ApiTest, NamesAreTextWhateverTheyContain) {
  start_without_auth();
  for (const std::string name : {"..", "a/b", "%2F", "<img onerror=alert(1)>", "' OR 1=1 --", "{\"a\":1}"}) {
    const auto quoted = json::serialize(json::string(name));
    ASSERT_EQ(post("lock/acquire", R"({"name":)" + quoted + "}").status, 200) << name;
    const auto shown = post("lock/show", R"({"name":)" + quoted + "}");
    EXPECT_EQ(shown.json().at("name"), json::string(name));
  }
  EXPECT_EQ(post("lock/acquire", R"({"name":"a\nb"})").status, 400);
}

TEST_P(ApiTest, RequestIdsComeBack) {
  start_without_auth();
  EXPECT_EQ(get("/healthz", "", {{"X-Request-Id", "abc-1.2"}}).headers.get("X-Request-Id"), "abc-1.2");
  EXPECT_EQ(get("/healthz", "", {{"X-Request-Id", "<b>"}}).headers.get("X-Request-Id").size(), 16U);
  EXPECT_EQ(post("nothing/here", "", "", {{"X-Request-Id", "lost-1"}}).json().at("request_id"), "lost-1");
}

TEST_P(ApiTest, AReadOnlyServerOnlyReads) {
  start({.read_only = true, .callers = {.no_auth = true}});
  for (const auto& act : act::all()) {
    if (act.local) continue;
    const auto answer = client().ask("POST", serve::path_of(act), "{\"no_such_key\":1}");
    EXPECT_EQ(answer.status, act::only_reads(act) ? 400 : 403) << act.name;
  }
  const auto tools = client().ask("POST", "/mcp", R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  EXPECT_NE(tools.body.find("\"overview\""), std::string::npos) << tools.body;
  EXPECT_EQ(tools.body.find("\"session_open\""), std::string::npos);
  EXPECT_EQ(tools.body.find("\"lock_acquire\""), std::string::npos);
}

TEST_P(ApiTest, WhoCannotWaitIsToldWhenToComeBack) {
  start({.callers = {.no_auth = true}, .waits = 1});
  const std::string claim = R"({"queue":"mail","wait_seconds":30})";
  auto waiting = client();
  waiting.send(waiting.written("POST", "/api/v1/job/claim", claim));
  ASSERT_TRUE(eventually([] { return observe::process().waiting_acts == 1; }, 30s));
  const auto idle = post("job/claim", claim).json();
  EXPECT_EQ(idle.at("code"), "empty");
  EXPECT_EQ(idle.at("retry_in_seconds"), 1);
  EXPECT_FALSE(post("job/claim", R"({"queue":"mail"})").json().as_object().contains("retry_in_seconds"));
}

TEST_P(ApiTest, AgentsCallToolsOverHttp) {
  start();
  const auto ask = [&](const std::string& message, const std::string& secret) {
    return client().ask("POST", "/mcp", message, with(secret));
  };
  const std::string open =
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"session_open","arguments":{"label":"tests"}}})";
  EXPECT_EQ(ask(open, "").status, 401);
  EXPECT_EQ(get("/mcp", token(Scope::work)).headers.get("Allow"), "POST");
  const auto opened = ask(open, token(Scope::work)).json();
  EXPECT_FALSE(opened.at("result").at("isError").as_bool());
  const auto sessions = store().sessions().list();
  ASSERT_TRUE(ok(sessions));
  EXPECT_EQ(sessions->items.at(0).ttl, 30min);
  EXPECT_EQ(sessions->items.at(0).holder.pid, 0);
  // A reader is not shown what it cannot call.
  const auto reader = token(Scope::read);
  EXPECT_TRUE(ask(open, reader).json().as_object().contains("error"));
  const auto tools = ask(R"({"jsonrpc":"2.0","id":"a","method":"tools/list"})", reader);
  EXPECT_EQ(tools.body.find("session_open"), std::string::npos);
  EXPECT_NE(tools.body.find("overview"), std::string::npos);
  EXPECT_EQ(ask(R"({"jsonrpc":"2.0","method":"notifications/initialized"})", reader).status, 202);
  EXPECT_EQ(ask("[]", reader).status, 400);
}

TEST_P(ApiTest, ToolsCountByHowTheyEnded) {
  start_without_auth();
  const auto call = [&](const std::string& tool, const std::string& arguments) {
    const auto params = fmt::format(R"({{"name":"{}","arguments":{}}})", tool, arguments);
    return client().ask("POST", "/mcp", R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)" + params + "}");
  };
  const auto count = [&](const std::string& tool, const std::string& outcome) {
    const auto page = get("/metrics").body;
    const auto line = fmt::format("leasehold_mcp_calls_total{{tool=\"{}\",outcome=\"{}\"}} ", tool, outcome);
    const auto at = page.find(line);
    return at == std::string::npos ? 0 : std::stoi(page.substr(at + line.size()));
  };
  const auto held = count("lock_acquire", "held");
  const auto missing = count("claim_show", "not_found");
  const auto granted = count("lock_acquire", "ok");
  call("lock_acquire", R"({"name":"deploy"})");
  call("lock_acquire", R"({"name":"deploy"})");
  call("claim_show", R"({"key":"nothing"})");
  call("no_such_tool", "{}");
  EXPECT_EQ(count("lock_acquire", "ok"), granted + 1);
  EXPECT_EQ(count("lock_acquire", "held"), held + 1);
  EXPECT_EQ(count("claim_show", "not_found"), missing + 1);
  EXPECT_EQ(get("/metrics").body.find("no_such_tool"), std::string::npos) << "clients choose no labels";
}

TEST_P(ApiTest, TheStreamGreets) {
  start();
  EXPECT_EQ(get("/api/v1/stream").status, 401);
  auto one = client();
  one.send(one.written("GET", "/api/v1/stream", "", with(token(Scope::read))));
  ASSERT_EQ(one.read_head().headers.get("Content-Type"), "text/event-stream");
  EXPECT_NE(one.read_chunk().value_or("").find("event: hello"), std::string::npos);
  server().drain();
  std::string rest;
  for (auto chunk = one.read_chunk(); chunk && !chunk->empty(); chunk = one.read_chunk()) rest += *chunk;
  EXPECT_NE(rest.find("event: bye"), std::string::npos) << rest;
}

}  // namespace
}  // namespace leasehold::support
