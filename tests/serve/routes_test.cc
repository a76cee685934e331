// Routes besides acts: health, metrics, the page and its files; and what is no route.
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "serve/server_fixture.h"

namespace leasehold::support {
namespace {

class RoutesTest : public ServerTest {};
LEASEHOLD_ON_BOTH_STORES(RoutesTest);

TEST_P(RoutesTest, PathsHaveNoTricks) {
  start_without_auth();
  for (const auto* path : {"/api/v1/job%2Fclaim", "/api/v1/../v1/job/claim", "/api/v1//job/claim", "/api/v1/job/claim/",
                           "/api/v1/job.claim", "/api/v1/", "/api/v1/job/claim;x"}) {
    EXPECT_EQ(client().ask("POST", path, "{}").status, 404) << path;
  }
  EXPECT_EQ(get("/../../etc/passwd.txt").status, 404);
  EXPECT_EQ(get("/%2e%2e/etc/passwd.txt").status, 404);
}

TEST_P(RoutesTest, AServerThatDrainsCallsNoTools) {
  start_without_auth();
  // A request that is still being sent keeps the server up.
  auto slow = client();
  slow.send("POST /api/v1/job/list HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  ASSERT_EQ(slow.read_head().status, 100);
  server().drain();
  const auto refused = client().ask("POST", "/mcp", R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.code(), "unavailable");
  slow.send("{}");
  EXPECT_EQ(slow.read().status, 200);
}

TEST_P(RoutesTest, AProbeOfAnUnknownPathFails) {
  start();
  for (const auto* path : {"/healthz/", "/readyz/", "/health", "/ready", "/jobs/17", "/jobs/"}) {
    EXPECT_EQ(get(path).code(), "unknown_route") << path;
  }
}

TEST_P(RoutesTest, EveryPageOfTheDashboardIsAView) {
  start();
  std::ifstream file(std::string(LEASEHOLD_SOURCE_DIR) + "/web/src/main.tsx");
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  const std::string begin = "const chunks: Record<string, Chunk> = {";
  const auto at = source.find(begin);
  ASSERT_NE(at, std::string::npos) << "this test does not find the pages";
  const auto pages = source.substr(at + begin.size(), source.find('}', at) - at - begin.size());
  static const std::regex name("(\\w+):");
  std::set<std::string> views = {"overview", "leases", "login"};
  for (std::sregex_iterator found(pages.begin(), pages.end(), name), end; found != end; ++found) {
    views.insert((*found)[1]);
  }
  EXPECT_GT(views.size(), 10U);
  for (const auto& view : views) EXPECT_EQ(get("/" + view).status, 200) << view;
}

TEST_P(RoutesTest, EverythingIsBelowTheBasePath) {
  start({.base_path = "/lease", .callers = {.no_auth = true}});
  EXPECT_EQ(get("/lease/healthz").status, 200);
  EXPECT_EQ(post("job/list", "{}").status, 404);
  EXPECT_EQ(client().ask("POST", "/lease/api/v1/job/list", "{}").status, 200);
  EXPECT_EQ(get("/leaseholder/healthz").status, 404);
}

TEST_P(RoutesTest, ItSaysWhetherItLivesAndIsReady) {
  start();
  EXPECT_EQ(get("/healthz").body, "ok\n");
  EXPECT_EQ(get("/readyz").body, "ready\n");
  EXPECT_EQ(get("/metrics").status, 401);
  EXPECT_NE(get("/metrics", token(Scope::read)).body.find("# TYPE"), std::string::npos);
  EXPECT_NE(get("/metrics/store", token(Scope::read)).body.find("leasehold_"), std::string::npos);
  const auto me = get("/api/v1/whoami", token(Scope::produce, {"queue:mail"})).json();
  EXPECT_EQ(me.at("scope"), "produce");
  EXPECT_EQ(me.at("only").at(0), "queue:mail");
}

TEST_P(RoutesTest, ThePageComesWithItsFiles) {
  start({.base_path = "/lease"});
  const auto page = get("/lease/");
  ASSERT_EQ(page.status, 200);
  EXPECT_EQ(page.headers.get("Content-Type"), "text/html; charset=utf-8");
  EXPECT_NE(page.headers.get("Content-Security-Policy").find("default-src 'none'; script-src 'self'"),
            std::string::npos);
  EXPECT_NE(page.body.find(R"(<base href="/lease/">)"), std::string::npos) << page.body;
  EXPECT_EQ(get("/lease/jobs").body, page.body) << "a view of the page";
  const auto plain = get("/lease/app.js");
  EXPECT_EQ(plain.headers.get("Content-Type"), "text/javascript; charset=utf-8");
  const auto compressed = get("/lease/app.js", "", {{"Accept-Encoding", "br, gzip"}});
  EXPECT_EQ(compressed.headers.get("Content-Encoding"), "gzip");
  EXPECT_LT(compressed.body.size(), plain.body.size());
  EXPECT_TRUE(compressed.body.starts_with("\x1f\x8b"));
  const std::string etag(plain.headers.get("ETag"));
  EXPECT_EQ(get("/lease/app.js", "", {{"If-None-Match", etag}}).status, 304);
  EXPECT_EQ(get("/lease/app.css", "", {{"If-None-Match", etag}}).status, 200);
  EXPECT_EQ(get("/lease/missing.js").status, 404);
}

}  // namespace
}  // namespace leasehold::support
