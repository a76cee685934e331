// leasehold token and audit, from outside.
#include "cli/tool.h"

namespace leasehold::support {
namespace {

using TokenCommands = StoreToolTest;
LEASEHOLD_ON_BOTH_STORES(TokenCommands);

TEST_P(TokenCommands, TheSecretAloneGoesToStdout) {
  const auto created = tool({"token", "create", "mailer", "--scope", "work", "--only", "queue:mail*", "--only",
                             "lock:deploy", "--expires-in", "90d"});
  EXPECT_EQ(created.exit_code, 0) << created.err;
  EXPECT_EQ(created.out.size(), 48U);
  EXPECT_TRUE(created.out.starts_with("lht_"));
  EXPECT_NE(created.err.find("created token 1 mailer with scope work"), std::string::npos) << created.err;
  const auto listed = tool({"token", "ls"});
  EXPECT_NE(listed.out.find("queue:mail* lock:deploy"), std::string::npos) << listed.out;
  EXPECT_EQ(listed.out.find(created.out.substr(0, 20)), std::string::npos) << "a list shows no secret";
}

TEST_P(TokenCommands, AsJson) {
  const auto created = json({"token", "create", "mailer"});
  EXPECT_EQ(created.at("scope"), "read");
  EXPECT_TRUE(created.at("only").as_array().empty());
  EXPECT_EQ(created.at("secret").as_string().size(), 47U);
  const auto listed = json({"token", "ls"}).at("items").at(0);
  EXPECT_EQ(listed.at("state"), "active");
  EXPECT_FALSE(listed.as_object().contains("secret"));
  EXPECT_EQ(json({"token", "revoke", "1"}).at("state"), "revoked");
  EXPECT_EQ(json({"audit"}).at("items").as_array().size(), 0U);
}

TEST_P(TokenCommands, Refusals) {
  EXPECT_EQ(tool({"token", "create", "mailer"}).exit_code, 0);
  EXPECT_EQ(tool({"token", "create", "mailer"}).exit_code, 2);
  EXPECT_EQ(tool({"token", "create", "x", "--only", "mail"}).exit_code, 2);
  EXPECT_EQ(tool({"token", "create", "x", "--scope", "root"}).exit_code, 2);
  EXPECT_EQ(tool({"token", "revoke", "17"}).exit_code, 4);
  EXPECT_EQ(tool({"token", "revoke", "1"}).exit_code, 0);
  EXPECT_EQ(tool({"token", "ls", "--state", "active"}).out.find("mailer"), std::string::npos);
}

TEST_P(TokenCommands, AuditFilters) {
  make_store();
  const auto store = Store::open(url());
  ASSERT_TRUE(store);
  for (const auto* act : {"queue.pause", "job.remove"}) {
    ASSERT_TRUE(store->access().record({.by = "ann", .act = act, .key = "mail", .outcome = "done"}));
  }
  EXPECT_NE(tool({"audit"}).out.find("queue.pause"), std::string::npos);
  EXPECT_EQ(tool({"audit", "--act", "job.remove"}).out.find("queue.pause"), std::string::npos);
  EXPECT_EQ(json({"audit", "--by", "ben"}).at("items").as_array().size(), 0U);
  EXPECT_EQ(tool({"audit", "--since", "yesterday-ish"}).exit_code, 2);
}

TEST_P(TokenCommands, AnEnqueueWithARequestIdHappensOnce) {
  const auto first = tool({"job", "add", "mail", "x", "--request-id", "r-1"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(tool({"job", "add", "mail", "x", "--request-id", "r-1"}).out, first.out);
}

}  // namespace
}  // namespace leasehold::support
