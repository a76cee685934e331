// Sessions and claims in a SQLite file, as another program with the same file sees them.
#include <gtest/gtest.h>

#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

class SessionFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    must(store_.items().add("SD-1", {.title = "Parse"}));
    must(store_.items().add("SD-2"));
    must(store_.sessions().open(session_of("ann"), by("ann")));
    claim_ = must(store_.claims().take("SD-1", "ann"));
  }
  std::string look(const std::string& columns, const std::string& from) {
    const auto rows = file_.rows("SELECT " + columns + " FROM leasehold_" + from);
    std::string text;
    for (const auto& cell : rows.at(0)) {
      text += (text.empty() ? "" : " ") + cell.value_or("-");
    }
    return text;
  }
  int claim_past_the_library(const std::string& item, const std::string& session, bool exclusive) {
    return file_.attempt(
        "INSERT INTO leasehold_claim (item, token, session_id, session_token, lease_id, exclusive, "
        "taken_at) SELECT '" +
        item + "', 99, id, token, lease_id, " + (exclusive ? "1" : "0") + ", 0 FROM leasehold_session WHERE id = '" +
        session + "'");
  }

  TestStore test_store_{StoreKind::sqlite};
  Store store_ = test_store_.open();
  SqliteFile file_{test_store_.path()};
  Claim claim_;
};

TEST_F(SessionFileTest, TheViewsShowTheClaimsAndTheirOwners) {
  EXPECT_EQ(look("session_id, label, holder, host, tty, pid, ttl_seconds, claims, item", "sessions"),
            "ann work of ann ann host-of-ann pts/7 4711 30 1 SD-1");
  const auto items = "key, title, state, session_id";
  EXPECT_EQ(look(items, "items"), "SD-1 Parse claimed ann");
  EXPECT_EQ(look(items, "items WHERE key = 'SD-2'"), "SD-2  open -");
  EXPECT_EQ(look("item, title, session_id, label, holder", "claims"), "SD-1 Parse ann work of ann ann");
  must(store_.items().done("SD-1", claim_.token));
  EXPECT_EQ(look(items, "items"), "SD-1 Parse done -");
  EXPECT_EQ(look("count(*)", "claims"), "0");
  must(store_.sessions().revoke("ann", "enough"));
  EXPECT_EQ(look("count(*)", "sessions"), "0");
}

TEST_F(SessionFileTest, TheIndexStopsWritesPastTheLibrary) {
  auto exclusive = session_of("ben");
  exclusive.exclusive = true;
  must(store_.sessions().open(exclusive, by("ben")));
  EXPECT_EQ(claim_past_the_library("SD-1", "ben", false), SQLITE_CONSTRAINT) << "an item has one owner";
  EXPECT_EQ(claim_past_the_library("SD-2", "ben", true), SQLITE_OK);
  EXPECT_EQ(claim_past_the_library("SD-3", "ben", true), SQLITE_CONSTRAINT) << "an exclusive session has one item";
  EXPECT_TRUE(fails(store_.claims().take("SD-2", "ann"), Errc::held)) << "a row written past the library counts";
}

TEST_F(SessionFileTest, TheDocumentedFenceSaysWhatTheFunctionSays) {
  const auto question =
      "SELECT count(*) FROM leasehold_claim c JOIN leasehold_lease l ON l.id = c.lease_id WHERE c.item = 'SD-1' AND "
      "c.ended_at IS NULL AND l.ended_at IS NULL AND c.token = " +
      std::to_string(claim_.token.value);
  EXPECT_EQ(file_.scalar(question), "1");
  must(store_.claims().release("SD-1", "ann", claim_.token));
  EXPECT_EQ(file_.scalar(question), "0");
}

}  // namespace
}  // namespace leasehold::support
