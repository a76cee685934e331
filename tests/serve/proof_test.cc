// Over HTTP and MCP no answer proves what another caller holds: tokens are for their holders, and for admins.
#include <boost/json/serialize.hpp>
#include <functional>
#include <map>
#include <set>

#include "act/act.h"
#include "mcp/tool.h"
#include "model/json.h"
#include "serve/api.h"
#include "serve/server_fixture.h"

namespace leasehold::support {
namespace {

namespace json = boost::json;
using model::Described;
using model::Kind;

bool names_a_proof(std::string_view key) {
  static const std::set<std::string_view> keys = {"token", "session_token", "instance", "handle", "secret"};
  return keys.contains(key);
}

/// Calls back with each field of the answer, and the struct that has it.
void walk(const Described& type, std::set<std::string_view>& seen,
          const std::function<void(const Described&, const model::Field&)>& visit) {
  if (!type.name.empty() && !seen.insert(type.name).second) return;
  for (const auto& field : type.fields) {
    if (field.kind == Kind::hidden) continue;
    visit(type, field);
    if (field.type != nullptr) walk(field.type(), seen, visit);
  }
}

TEST(ProofFieldsTest, OnlyGrantsAnswerWithAProofThatIsNotMarked) {
  // What the caller itself was granted, has extended or has ended.
  const std::set<std::string_view> own = {"LockGrant", "SetGrant",     "JobGrant",      "Job",          "ChunkGrant",
                                          "Chunk",     "SessionGrant", "Claim",         "RunGrant",     "ScheduleRun",
                                          "RowGrant",  "Released",     "ClaimReleased", "CreatedToken", "Grant"};
  int marked = 0;
  for (const auto& act : act::all()) {
    if (act.local) continue;
    std::set<std::string_view> seen;
    walk(act.answer(), seen, [&](const Described& type, const model::Field& field) {
      if (!names_a_proof(field.name)) return;
      marked += field.proof ? 1 : 0;
      const bool is_own = !act::only_reads(act) && own.contains(type.name);
      EXPECT_TRUE(field.proof || is_own) << act.name << " answers " << type.name << "." << field.name;
    });
  }
  EXPECT_GT(marked, 30);
}

class ProofTest : public ServerTest {
 protected:
  /// Something of each kind is held; the tokens are kept.
  void hold_one_of_each() {
    start();
    admin_ = token(Scope::admin);
    hold("lock/acquire", R"({"name":"deploy"})");
    post("job/enqueue", R"({"queue":"mail"})", admin_);
    hold("job/claim", R"({"queue":"mail"})");
    post("chunk/plan", R"({"set":"orders","chunks":[{"key":"a","spec":{"n":1}},{"key":"b","spec":{"n":2}}]})", admin_);
    hold("chunk/claim", R"({"set":"orders"})");
    const auto session = hold("session/open", R"({"id":"ann","label":"tests"})");
    post("item/add", R"({"key":"T-1","title":"x"})", admin_);
    hold("claim/take", fmt::format(R"({{"key":"T-1","session":"ann","session_token":{}}})", session));
    post("path/take", fmt::format(R"({{"session":"ann","session_token":{},"paths":["src"]}})", session), admin_);
    post("schedule/set", R"({"name":"nightly","every_min_seconds":60,"next_run_in_seconds":0})", admin_);
    hold("schedule/acquire", R"({"name":"nightly"})");
    const auto leases = store().leases();
    ASSERT_TRUE(ok(leases));
    for (const auto& lease : *leases) tokens_.insert(std::to_string(lease.token.value));
  }
  std::int64_t hold(const std::string& act, const std::string& arguments) {
    const auto answer = post(act, arguments, admin_);
    const auto value = answer.json();
    const auto* granted = value.as_object().if_contains("token");
    const auto* chunks = value.as_object().if_contains("chunks");
    if (granted == nullptr && chunks != nullptr) granted = &chunks->at(0).at("token");
    EXPECT_TRUE(answer.status == 200 && granted != nullptr && granted->is_int64()) << act << " " << answer.body;
    if (granted == nullptr || !granted->is_int64()) return 0;
    tokens_.insert(std::to_string(granted->as_int64()));
    return granted->as_int64();
  }
  /// Arguments that find what is held.
  static std::string arguments_for(const act::Act& act) {
    static const std::map<std::string_view, std::string> known = {{"job.show", R"({"id":1})"},
                                                                  {"job.attempts", R"({"id":1})"},
                                                                  {"job.errors", R"({})"},
                                                                  {"job.wait", R"({"id":1})"},
                                                                  {"job.list", "{}"},
                                                                  {"job.search", R"({"text":"m"})"},
                                                                  {"session.show", R"({"id":"ann"})"},
                                                                  {"session.list", "{}"},
                                                                  {"item.show", R"({"key":"T-1"})"},
                                                                  {"item.list", "{}"},
                                                                  {"claim.show", R"({"key":"T-1"})"},
                                                                  {"claim.list", "{}"},
                                                                  {"chunk.show", R"({"set":"orders","key":"a"})"},
                                                                  {"chunk.list", R"({"set":"orders"})"},
                                                                  {"lock.show", R"({"name":"deploy"})"},
                                                                  {"lock.list", "{}"},
                                                                  {"event.list", "{}"},
                                                                  {"lease.list", "{}"},
                                                                  {"lease.history", "{}"},
                                                                  {"path.list", "{}"},
                                                                  {"schedule.show", R"({"name":"nightly"})"},
                                                                  {"schedule.list", "{}"},
                                                                  {"schedule.history", R"({"name":"nightly"})"},
                                                                  {"queue.workers", "{}"},
                                                                  {"rate.list", "{}"}};
    const auto found = known.find(act.name);
    return found != known.end() ? found->second : std::string(act.example);
  }
  /// A token that the text has as a number; empty: none.
  [[nodiscard]] std::string token_in(const std::string& body) const {
    for (const auto& one : tokens_) {
      if (body.find(one) != std::string::npos) return one;
    }
    return "";
  }

  std::string admin_;
  std::set<std::string> tokens_;
};
LEASEHOLD_ON_BOTH_STORES(ProofTest);

TEST_P(ProofTest, NoActThatReadsShowsATokenBelowAdmin) {
  hold_one_of_each();
  for (const auto scope : {Scope::read, Scope::work, Scope::admin}) {
    const auto secret = token(scope);
    std::set<std::string_view> showing;
    int answered = 0;
    for (const auto& act : act::all()) {
      if (act.local || !act::only_reads(act) || act.scope > scope) continue;
      const auto answer = client().ask("POST", serve::path_of(act), arguments_for(act), with(secret));
      answered += answer.status == 200 ? 1 : 0;
      if (!token_in(answer.body).empty()) showing.insert(act.name);
      if (scope == Scope::admin) continue;
      EXPECT_EQ(token_in(answer.body), "") << act.name << " " << answer.body;
      EXPECT_EQ(answer.body.find("\"instance\":\""), std::string::npos) << act.name;
    }
    EXPECT_GT(answered, 30) << act::word_of(scope);
    // The test would see them: an operator does.
    if (scope == Scope::admin) {
      for (const auto* act : {"lock.show", "job.show", "chunk.list", "session.list", "claim.show", "lease.list",
                              "event.list", "schedule.show"}) {
        EXPECT_TRUE(showing.contains(act)) << act;
      }
    }
  }
}

TEST_P(ProofTest, AWorkerThatIsInTheWayIsNamedWithoutItsToken) {
  hold_one_of_each();
  const auto worker = token(Scope::work);
  const auto refused = post("lock/acquire", R"({"name":"deploy"})", worker);
  EXPECT_EQ(refused.json().at("held_by").at("holder").at("name"), "token-1");
  EXPECT_EQ(token_in(refused.body), "");
  EXPECT_EQ(token_in(post("schedule/trigger", R"({"name":"nightly"})", worker).body), "");
  const auto own = post("lock/acquire", R"({"name":"other"})", worker).json();
  EXPECT_TRUE(own.at("token").is_int64()) << "its own it gets";
}

TEST_P(ProofTest, NoToolThatReadsShowsAToken) {
  hold_one_of_each();
  int answered = 0;
  const auto toolsets = {mcp::Toolset::claims, mcp::Toolset::locks,     mcp::Toolset::jobs,
                         mcp::Toolset::chunks, mcp::Toolset::schedules, mcp::Toolset::rows};
  for (const auto& tool : mcp::tools_of(std::vector(toolsets))) {
    if (!tool.reads) continue;
    const auto arguments = tool.act != nullptr ? arguments_for(*tool.act) : R"({"key":"T-1"})";
    for (const auto& given : {arguments, std::string("{}")}) {
      const auto params = fmt::format(R"({{"name":"{}","arguments":{}}})", tool.name, given);
      const auto answer =
          client().ask("POST", "/mcp?tools=jobs,chunks,schedules,rows",
                       R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)" + params + "}", with(admin_));
      answered += answer.body.find("\"isError\":false") != std::string::npos ? 1 : 0;
      EXPECT_EQ(token_in(answer.body), "") << tool.name << " " << answer.body;
    }
  }
  EXPECT_GT(answered, 8);
}

}  // namespace
}  // namespace leasehold::support
