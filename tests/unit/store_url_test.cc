#include "core/store_url.h"

#include <gtest/gtest.h>

#include "support/results.h"

namespace leasehold::support {
namespace {

TEST(StoreUrlTest, SqlitePathsAreTakenAsTheyAre) {
  EXPECT_EQ(parse_store_url("sqlite:work.db")->path, "work.db");
  EXPECT_EQ(parse_store_url("sqlite:/var/lib/a b.db")->path, "/var/lib/a b.db");
  EXPECT_EQ(parse_store_url("sqlite:///var/lib/x.db")->path, "/var/lib/x.db");
  EXPECT_TRUE(parse_store_url("sqlite::memory:")->in_memory());
  EXPECT_TRUE(parse_store_url("sqlite:work.db")->durable);
  EXPECT_TRUE(parse_store_url("sqlite:work.db?synchronous=full")->durable);
  EXPECT_FALSE(parse_store_url("sqlite:work.db?synchronous=normal")->durable);
}

TEST(StoreUrlTest, PostgresOptionsOfOursAreTakenOutTheRestIsLibpqs) {
  const auto url = parse_store_url(
      "postgresql://app:secret@db:5433/app?sslmode=require&schema=work&prepare=off&pool=9&connect_timeout=3");
  ASSERT_TRUE(ok(url));
  EXPECT_EQ(url->kind, StoreUrl::Kind::postgres);
  EXPECT_EQ(url->conninfo, "postgresql://app:secret@db:5433/app?sslmode=require&connect_timeout=3");
  EXPECT_EQ(url->schema, "work");
  EXPECT_EQ(url->prepare, StoreUrl::Prepare::off);
  EXPECT_EQ(url->pool, 9);
}

TEST(StoreUrlTest, PostgresDefaults) {
  const auto url = parse_store_url("postgres://db/app");
  ASSERT_TRUE(ok(url));
  EXPECT_EQ(url->schema, "leasehold");
  EXPECT_EQ(url->prepare, StoreUrl::Prepare::automatic);
}

TEST(StoreUrlTest, AnInvalidStoreUrlIsRefusedWithTheForms) {
  for (const auto* text : {"", "work.db", "mysql://db/app", "SQLITE:x", "postgresql:db", "http://x"}) {
    const auto url = parse_store_url(text);
    ASSERT_TRUE(fails(url, Errc::invalid_argument)) << text;
    EXPECT_NE(url.error().message.find("sqlite:PATH"), std::string::npos) << url.error().message;
  }
  for (const auto* text : {"sqlite:", "sqlite:?synchronous=full", "sqlite:x?synchronous=off", "sqlite:x?schema=y",
                           "postgresql://d/a?schema=", "postgresql://d/a?schema=A", "postgresql://d/a?schema=pg_x",
                           "postgresql://d/a?schema=1a", "postgresql://d/a?schema=a;b", "postgresql://d/a?pool=0",
                           "postgresql://d/a?pool=101", "postgresql://d/a?pool=x", "postgresql://d/a?pool=",
                           "postgresql://d/a?prepare=maybe", "postgresql://d/a?synchronous=off"}) {
    EXPECT_TRUE(fails(parse_store_url(text), Errc::invalid_argument)) << text;
  }
}

TEST(StoreUrlTest, AMessageNeverRepeatsThePassword) {
  for (const auto* text :
       {"postgresql://app:secret@db/a?pool=0", "mysql://app:secret@db/a", "postgresql://app:secret@db/a?schema=UP",
        "host=db user=app password=secret", "host=db password=secret options=a:b", "//app:secret@db/a",
        "postgresql//app:secret@db/a", "app:secret@db/a", "sqlite://app:secret@db/a", "PASSWORD=secret host=db",
        "sqlite:postgresql://app:secret@db/a", "postgresql://db/a?schema=x;password=secret"}) {
    const auto url = parse_store_url(text);
    ASSERT_FALSE(url.ok());
    EXPECT_EQ(url.error().message.find("secret"), std::string::npos) << url.error().message;
  }
}

}  // namespace
}  // namespace leasehold::support
