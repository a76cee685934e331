// Ten processes that open a new store at once: one schema, and no process is refused.
#include <gtest/gtest.h>

#include <iostream>

#include "support/lock_helpers.h"
#include "support/process.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

LEASEHOLD_ROLE(opener) {
  std::cout << "ready" << std::endl;
  std::string go;
  std::getline(std::cin, go);
  const auto store = Store::open(env("STORE_URL"), {.migrate = MigrateOnOpen::yes, .call_timeout = 30s});
  if (!store) {
    std::cerr << describe(store.error()) << std::endl;
    return 1;
  }
  const auto grant = store->locks().acquire("lock-" + std::to_string(::getpid()));
  if (!grant) std::cerr << describe(grant.error()) << std::endl;
  return grant ? 0 : 1;
}

class OpenersTest : public ::testing::TestWithParam<StoreKind> {};
LEASEHOLD_ON_BOTH_STORES(OpenersTest);

TEST_P(OpenersTest, TenProcessesMayOpenANewStoreAtOnce) {
  TestStore store(GetParam(), {.migrate = false, .real_time = true});
  std::vector<Process> openers;
  for (int i = 0; i < 10; ++i) openers.push_back(Process::self("opener", {{"STORE_URL", store.url()}}));
  for (auto& opener : openers) ASSERT_EQ(opener.read_line(10s), "ready");
  for (auto& opener : openers) opener.write("go\n");
  for (auto& opener : openers) {
    const auto done = opener.finish(60s);
    EXPECT_EQ(done.exit_code, 0) << done.err;
  }
  auto opened = store.open();
  EXPECT_EQ(opened.locks().list().value().size(), 10U);
  const auto drift = opened.migrations().verify();
  ASSERT_TRUE(ok(drift));
  EXPECT_TRUE(drift->empty());
}

TEST_P(OpenersTest, UnknownUrlsAreRefusedWithTheFormsThereAre) {
  for (const auto* url :
       {"", "mysql://localhost/x", "store.db", "sqlite:", "sqlite:x?what=1", "postgresql://h/d?pool=0",
        "postgresql://h/d?schema=Upper", "postgresql://h/d?prepare=maybe"}) {
    const auto refused = Store::open(url);
    EXPECT_TRUE(fails(refused, Errc::invalid_argument)) << url;
  }
}

TEST(PostgresOpenTest, WithoutASchemaItAsksForMigrateUp) {
  TestStore store(StoreKind::postgres, {.migrate = false});
  const auto refused = store.try_open();
  ASSERT_TRUE(fails(refused, Errc::schema_missing));
  EXPECT_NE(refused.error().message.find("migrate up"), std::string::npos) << refused.error().message;
}

TEST(PostgresOpenTest, AServerThatIsNotThereIsUnavailable) {
  const auto refused = Store::open("postgresql://nobody@127.0.0.1:1/none", {.call_timeout = 500ms});
  EXPECT_TRUE(fails(refused, Errc::unavailable));
}

}  // namespace
}  // namespace leasehold::support
