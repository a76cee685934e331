// Waits: the lock matrix of docs/semantics.md, pair by pair. Alice does the first thing in a transaction
// that stays open, bob the second.
#pragma once

#include <map>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>

#include "sql/sql_fixture.h"

namespace leasehold::support {

enum class Bob { passes, waits };
/// When the leases, of 30 seconds, run out.
enum class Expiry { never, before_alice, after_alice };

struct Pair {
  const char* name;
  const char* first;   ///< an act of alice
  const char* second;  ///< an act of bob
  Bob bob;
  const char* reported;  ///< bob's answer in the end, "LH001" for a raised fence
  Expiry expiry = Expiry::never;
};

/// For gtest: how a parameter looks in the name of a test.
inline void PrintTo(const Pair& pair, std::ostream* out) { *out << pair.name; }
inline std::string pair_name(const ::testing::TestParamInfo<Pair>& info) { return info.param.name; }

/// The final answer; "LH001" for a fence that raised.
inline std::string reported(PgConnection& connection) {
  try {
    return connection.answer();
  } catch (const std::runtime_error& error) {
    return std::string(error.what()).find("is not current") != std::string::npos ? "LH001" : error.what();
  }
}

/// A matrix has its acts by name, each what comes after SELECT, and its SetUp says what the words in them stand for.
class MatrixTest : public SqlTest, public ::testing::WithParamInterface<Pair> {
 protected:
  using Acts = std::map<std::string, std::string>;

  explicit MatrixTest(Acts acts) : acts_(std::move(acts)) {}

  /// True for either order.
  virtual void expect_sound() {}

  std::string filled(const std::string& query) {
    auto sql = here("SELECT " + query);
    for (const auto& [word, value] : words_) {
      for (auto at = sql.find(word); at != std::string::npos; at = sql.find(word)) sql.replace(at, word.size(), value);
    }
    return sql;
  }

  void expect_as_promised() {
    EXPECT_EQ(meet(), GetParam().bob == Bob::waits);
    alice_.run("COMMIT");
    EXPECT_EQ(reported(bob_), GetParam().reported);
    expect_sound();
  }

  /// Whatever bob did: alice's rolled back act leaves no trace.
  void expect_sound_after_rollback() {
    meet();
    alice_.run("ROLLBACK");
    EXPECT_EQ(bob_.outcome().state, "");
    expect_sound();
  }

  std::map<std::string, std::string> words_;

 private:
  /// Alice's act in a transaction that stays open, then bob's. Whether he waits.
  bool meet() {
    const auto& pair = GetParam();
    if (pair.expiry == Expiry::before_alice) store_.advance(31s);
    alice_.run("BEGIN");
    alice_.run(filled(acts_.at(pair.first)));
    if (pair.expiry == Expiry::after_alice) store_.advance(31s);
    bob_.send(filled(acts_.at(pair.second)));
    return bob_.waits(observer_);
  }

  Acts acts_;
};

}  // namespace leasehold::support
