// Real processes on both stores, some of them killed, get a linearizable history; on a store with a rule removed
// they are not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/process.h"
#include "support/store_fixture.h"

namespace leasehold::history {
namespace {

using support::Arguments;
using support::StoreKind;
using support::TestStore;
using namespace std::chrono_literals;

/// A load on a store of its own, and the verdict on it.
class HistoryRun : public ::testing::Test {
 protected:
  void TearDown() override {
    if (store_ && store_->kind() == StoreKind::postgres) {
      store_->run(fmt::format("DROP TABLE IF EXISTS \"{}_load_ledger\"", store_->schema()));
    }
  }

  TestStore& use(StoreKind kind) {
    store_ = std::make_unique<TestStore>(kind, TestStore::Options{.real_time = true});
    return *store_;
  }

  support::Finished load(int seed, const Arguments& more) {
    Arguments argv = {LEASEHOLD_LOAD, "--store", store_->url(), "--out", records(seed), "--seed", std::to_string(seed)};
    argv.insert(argv.end(), more.begin(), more.end());
    return support::run(argv, {}, {}, 60s);
  }

  support::Finished check(int seed) {
    return support::run({LEASEHOLD_CHECK, records(seed), "--store", store_->url()}, {}, {}, 60s);
  }

  /// Changes a function of the store's schema, so that it breaks a rule.
  void mutate(const std::string& function, const std::string& rule, const std::string& instead) {
    const auto definition = fmt::format(
        "SELECT replace(pg_get_functiondef(p.oid), $rule${}$rule$, $instead${}$instead$) FROM pg_proc AS p "
        "JOIN pg_namespace AS n ON n.oid = p.pronamespace WHERE n.nspname = '{}' AND p.proname = '{}'",
        rule, instead, store_->schema() + "_internal", function);
    const auto mutant = store_->scalar(definition);
    ASSERT_NE(mutant.find(instead), std::string::npos) << "the rule is not where it was: " << rule;
    ASSERT_EQ(mutant.find(rule), std::string::npos);
    store_->run(mutant);
  }

  void expect_linearizable(const Arguments& more) {
    const auto loaded = load(1, more);
    ASSERT_EQ(loaded.exit_code, 0) << loaded.err;
    const auto checked = check(1);
    EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
    EXPECT_NE(checked.out.find(": linearizable\n"), std::string::npos) << checked.out;
  }

  /// On a busy machine it may take a few loads until one does harm.
  void expect_violation(const Arguments& more, const std::string& reason) {
    std::string last;
    for (int seed = 1; seed <= 20; ++seed) {
      ASSERT_EQ(load(seed, more).exit_code, 0);
      const auto checked = check(seed);
      if (checked.exit_code == 1 && checked.out.find(reason) != std::string::npos) return;
      last = checked.out + checked.err;
    }
    ADD_FAILURE() << "no history shows that " << reason << "; the last: " << last;
  }

 private:
  std::string records(int seed) const { return folder_.file(fmt::format("records-{}", seed)); }

  support::TempDir folder_;
  std::unique_ptr<TestStore> store_;
};

const Arguments with_kills = {"--seconds", "3", "--processes", "4", "--kill-every", "500ms", "--ttl", "300ms"};

TEST_F(HistoryRun, SqliteIsLinearizableThroughKill9) {
  use(StoreKind::sqlite);
  expect_linearizable(with_kills);
}

TEST_F(HistoryRun, PostgreSQLIsLinearizableThroughKill9) {
  use(StoreKind::postgres);
  expect_linearizable(with_kills);
}

/// Holders that are late more often than not.
Arguments late_holders(const std::string& feature, const std::string& processes, const std::string& keys) {
  return {"--seconds", "2",  "--processes",   processes, "--ttl",      "50ms",
          "--keys",    keys, "--pause-every", "4",       "--features", feature};
}

/// Others take over at once.
Arguments crowded(const std::string& feature) { return late_holders(feature, "4", "2"); }

/// A lease that has run out is often still there when its holder comes back.
Arguments lonely(const std::string& feature) { return late_holders(feature, "2", "6"); }

TEST_F(HistoryRun, PostgreSQLWithoutTheTokenTestInReleaseIsNot) {
  use(StoreKind::postgres);
  mutate("lock_release", "k.token = p_token AND", "/* any token */");
  expect_violation(crowded("lock"), "which was not current");
}

TEST_F(HistoryRun, PostgreSQLThatAcceptsACompleteAfterTheTakeoverIsNot) {
  use(StoreKind::postgres);
  mutate("job_settled_before", "OR (s.outcome = 'cancelled'", "OR p_verdict = 'complete' OR ('cancelled' = s.outcome");
  expect_violation(crowded("job"), "which was not current");
}

TEST_F(HistoryRun, PostgreSQLWithHeartbeatsThatReviveIsNot) {
  use(StoreKind::postgres);
  mutate("lease_heartbeat", "AND l.expires_at > moment", "/* expired or not */");
  expect_violation(lonely("lock"), "a heartbeat revived a lease that had run out");
}

TEST(HistoryTools, RefuseWhatTheyDoNotUnderstand) {
  EXPECT_EQ(support::run({LEASEHOLD_LOAD, "--store"}).exit_code, 2);
  EXPECT_EQ(support::run({LEASEHOLD_LOAD, "--features", "locks"}).exit_code, 2);
  EXPECT_EQ(support::run({LEASEHOLD_CHECK}).exit_code, 2);
  support::TempDir empty;
  const auto nothing = support::run({LEASEHOLD_CHECK, empty.path().string()});
  EXPECT_EQ(nothing.exit_code, 3) << "an unchecked history does not pass";
}

}  // namespace
}  // namespace leasehold::history
