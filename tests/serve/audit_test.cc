// The audit log of a server: what operators changed, and nothing else.
#include <fmt/format.h>

#include "serve/server_fixture.h"

namespace leasehold::support {
namespace {

class AuditLogTest : public ServerTest {
 protected:
  std::vector<AuditEntry> audit() {
    auto page = store().access().audit();
    EXPECT_TRUE(ok(page));
    return page ? page->items : std::vector<AuditEntry>();
  }
  static std::string line(const AuditEntry& entry) {
    return fmt::format("{} {} {}: {} {}", entry.by, entry.act, entry.key, entry.outcome, entry.detail);
  }
};
LEASEHOLD_ON_BOTH_STORES(AuditLogTest);

TEST_P(AuditLogTest, ActsOfOperatorsAreLogged) {
  start();
  const auto admin = token(Scope::admin);
  post("queue/pause", R"({"name":"mail","reason":"relocating"})", admin, {{"X-Request-Id", "op-1"}});
  post("schedule/remove", R"({"name":"nothing"})", admin);
  post("queue/pause", R"({"name":"mail"})", token(Scope::work));
  const auto entries = audit();
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(line(entries[0]), "token-2 queue.pause mail: denied ");
  EXPECT_EQ(line(entries[1]), "token-1 schedule.remove nothing: not_found ");
  EXPECT_EQ(line(entries[2]), "token-1 queue.pause mail: done relocating");
  EXPECT_EQ(entries[2].request_id, "op-1");
}

TEST_P(AuditLogTest, LooksOfOperatorsAreNotLogged) {
  start();
  const auto admin = token(Scope::admin);
  EXPECT_EQ(post("audit/list", "{}", admin).status, 200);
  EXPECT_EQ(get("/api/v1/token/list", admin).status, 200);
  EXPECT_EQ(post("audit/list", "{}", token(Scope::work)).status, 403);
  EXPECT_TRUE(audit().empty());
}

TEST_P(AuditLogTest, AnEntrySaysWhatTheActNamed) {
  start();
  const auto admin = token(Scope::admin);
  post("token/create", R"({"name":"mailer","scope":"work","only":["queue:mail*","lock:x"]})", admin);
  post("job/bulk", R"({"action":"cancel","queue":"mail","state":"available","reason":"a duplicate import"})", admin);
  post("schedule/set",
       R"({"name":"refresh","every_min_seconds":60,"queue":"mail","payload":{"key":"s3cret"},"command":["s3cret"]})",
       admin);
  post("lock/revoke", R"({"name":"deploy","token":123456789,"reason":"lht_)" + std::string(43, 'a') + R"("})", admin);
  const auto entries = audit();
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries[3].detail, "scope=work only=queue:mail*,lock:x");
  EXPECT_EQ(entries[2].detail, "action=cancel state=available: a duplicate import");
  EXPECT_EQ(entries[1].detail, "every_min_seconds=60");
  EXPECT_EQ(entries[0].detail, "[removed]");
}

TEST_P(AuditLogTest, TheTokenOfALoginLinkIsLogged) {
  start({.read_only = true});
  const auto link = server().new_login_link();
  ASSERT_TRUE(ok(link));
  ASSERT_EQ(get(**link, "", {{"X-Request-Id", "login-1"}}).status, 303);
  const auto entries = audit();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_TRUE(entries[0].key.starts_with("browser-")) << entries[0].key;
  EXPECT_EQ(line(entries[0]), "login-link token.create " + entries[0].key + ": done scope=read from=127.0.0.1");
  EXPECT_EQ(entries[0].request_id, "login-1");
}

}  // namespace
}  // namespace leasehold::support
