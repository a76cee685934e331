// The fences that the pages show for a SQLite file, for programs without the library: each query of the pages returns a
// row exactly as long as the token is current.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "support/chunk_helpers.h"
#include "support/job_helpers.h"
#include "support/lock_helpers.h"

namespace leasehold::support {
namespace {

class FenceFileTest : public ::testing::Test {
 protected:
  /// The query on `page` that begins with `start`, with these values instead of those of the page.
  static std::string documented(const std::string& page, const std::string& start,
                                const std::vector<std::pair<std::string, std::string>>& values) {
    std::ifstream in(LEASEHOLD_SOURCE_DIR "/docs/" + page);
    std::stringstream text;
    text << in.rdbuf();
    const auto body = text.str();
    const auto begin = body.find("\n" + start);
    if (begin == std::string::npos) throw std::runtime_error(page + " has no query that begins with " + start);
    auto query = body.substr(begin + 1, body.find(';', begin) - begin - 1);
    for (const auto& [shown, value] : values) {
      const auto at = query.find(shown);
      if (at == std::string::npos) throw std::runtime_error(page + ": no " + shown + " in " + query);
      query.replace(at, shown.size(), value);
    }
    return query;
  }
  std::size_t rows(const std::string& query) { return file_.rows(query).size(); }
  static std::string text(Token token) { return std::to_string(token.value); }

  static constexpr const char* shown_token = "1763200000000000";
  TestStore test_store_{StoreKind::sqlite};
  Store store_ = test_store_.open();
  SqliteFile file_{test_store_.path()};
};

TEST_F(FenceFileTest, Promise14_OfALockPassesUntilItIsTakenOver) {
  const auto locks = store_.locks();
  const auto query = [](Token token) {
    return documented("locks.md", "SELECT 1 FROM leasehold_lock k", {{shown_token, text(token)}});
  };
  const auto mine = take(locks, "deploy", {.ttl = 30s}, by("alice")).token;
  EXPECT_EQ(rows(query(mine)), 1U);
  EXPECT_EQ(rows(query(Token{mine.value + 1})), 0U);
  test_store_.advance(31s);
  EXPECT_EQ(rows(query(mine)), 1U) << "expired, and not taken over";
  const auto next = take(locks, "deploy", {}, by("bob")).token;
  EXPECT_EQ(rows(query(mine)), 0U);
  EXPECT_EQ(rows(query(next)), 1U);
  ASSERT_TRUE(ok(locks.release("deploy", next)));
  EXPECT_EQ(rows(query(next)), 0U);
}

TEST_F(FenceFileTest, Promise14_OfAJobPassesUntilItIsSettledOrTakenOver) {
  const auto jobs = store_.jobs();
  const auto query = [](const Job& job) {
    return documented("queue.md", "SELECT 1 FROM leasehold_job_grant g",
                      {{"17", std::to_string(job.id)}, {shown_token, text(job.token)}});
  };
  add_many(jobs, "mail", 2);
  const auto first = claim_one(jobs, "mail", "alice");
  EXPECT_EQ(rows(query(first)), 1U);
  test_store_.advance(31s);
  EXPECT_EQ(rows(query(first)), 1U) << "expired, and not taken over";
  const auto again = claim_one(jobs, "mail", "bob");
  const auto other = claim_one(jobs, "mail", "bob");
  EXPECT_EQ(rows(query(first)), 0U);
  EXPECT_EQ(rows(query(again)), 1U);
  must(jobs.complete(again.id, again.token));
  EXPECT_EQ(rows(query(again)), 0U);
  EXPECT_EQ(rows(query(other)), 1U);
  must(jobs.release(other.id, other.token));
  EXPECT_EQ(rows(query(other)), 0U);
}

TEST_F(FenceFileTest, Promise14_OfAChunkPassesUntilItIsSettledOrTakenOver) {
  const auto chunks = store_.chunks();
  must(chunks.plan("orders", must(plan_range(1, 10000, 10000))));
  const auto claim = [&](const std::string& who) { return must(chunks.claim("orders", {}, by(who))).chunks.at(0); };
  const auto query = [](const Chunk& chunk) {
    return documented("chunks.md", "SELECT 1 FROM leasehold_chunk_set s",
                      {{"1-10000", chunk.key}, {shown_token, text(chunk.token)}});
  };
  const auto first = claim("alice");
  EXPECT_EQ(rows(query(first)), 1U);
  test_store_.advance(24h);
  EXPECT_EQ(rows(query(first)), 1U) << "expired, and not taken over";
  const auto again = claim("bob");
  EXPECT_EQ(rows(query(first)), 0U);
  EXPECT_EQ(rows(query(again)), 1U);
  must(chunks.complete("orders", again.key, again.token));
  EXPECT_EQ(rows(query(again)), 0U);
}

}  // namespace
}  // namespace leasehold::support
