// Events can be followed without loss, however long a transaction takes to commit its own.
#include <gtest/gtest.h>

#include <map>

#include "support/lock_helpers.h"
#include "support/pg.h"
#include "support/process.h"
#include "support/results.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class FollowTest : public StoreTest {
 protected:
  EventReader reader(const FollowOptions& options = {}) {
    auto made = store().follow_events(options);
    if (!made) throw std::runtime_error(describe(made.error()));
    return std::move(*made);
  }
  /// All that is new, in the order in which it was read.
  static std::vector<Event> drained(EventReader& reader) {
    std::vector<Event> all;
    while (true) {
      auto events = reader.next();
      if (!events) throw std::runtime_error(describe(events.error()));
      if (events->empty()) return all;
      all.insert(all.end(), events->begin(), events->end());
    }
  }
  /// On PostgreSQL a mark stays behind a transaction of any database of the server: events may repeat, none is lost.
  static bool ends_with(const std::string& text, const std::string& end) { return text.ends_with(end); }
  static std::string keys(const std::vector<Event>& events) {
    std::string text;
    for (const auto& event : events) text += event.key + " ";
    return text;
  }
  std::string keys_of(EventReader& reader) { return keys(drained(reader)); }
  void take_each(const std::vector<std::string>& names) {
    for (const auto& name : names) take(locks(), name, {}, by("alice"));
  }
};
LEASEHOLD_ON_BOTH_STORES(FollowTest);

TEST_P(FollowTest, AReaderBeginsNowAndReturnsEachEventOnce) {
  take_each({"past"});
  auto follower = reader();
  EXPECT_EQ(keys_of(follower), "");
  take_each({"a", "b"});
  EXPECT_EQ(keys_of(follower), "a b ");
  EXPECT_EQ(keys_of(follower), "");
  take_each({"c"});
  EXPECT_EQ(keys_of(follower), "c ");
}

TEST_P(FollowTest, AReaderBeginsWithTheOldestEvent) {
  take_each({"a", "b"});
  auto follower = reader({.after = EventMark{}});
  EXPECT_EQ(keys_of(follower), "a b ");
}

TEST_P(FollowTest, AReaderOfOneKeySeesNoOther) {
  auto follower = reader({.key = "b"});
  take_each({"a", "b", "c"});
  EXPECT_EQ(keys_of(follower), "b ");
}

TEST_P(FollowTest, AMarkResumesBehindWhatWasRead) {
  auto follower = reader();
  take_each({"a", "b"});
  EXPECT_EQ(keys_of(follower), "a b ");
  take_each({"c"});
  auto resumed = reader({.after = follower.mark()});
  EXPECT_TRUE(ends_with(keys_of(resumed), "c "));
}

TEST_P(FollowTest, TheMarkOfAPageResumesBehindThePage) {
  auto follower = reader({.after = EventMark{}, .max = 2});
  take_each({"a", "b", "c", "d", "e"});
  const auto page = follower.next();
  ASSERT_TRUE(ok(page));
  EXPECT_EQ(keys(*page), "a b ");
  auto resumed = reader({.after = *parse_event_mark(page->back().mark)});
  EXPECT_TRUE(ends_with(keys_of(resumed), "c d e "));
  auto repeated = reader({.after = *parse_event_mark(page->front().mark)});
  EXPECT_EQ(keys_of(repeated), "a b c d e ") << "nothing is lost between the events of a page";
  EXPECT_EQ(keys_of(follower), "c d e ");
}

TEST_P(FollowTest, AMarkOfAStoreThatWasReplacedByAnOlderCopyReadsEverything) {
  take_each({"a", "b"});
  auto resumed = reader({.after = EventMark{.transaction_id = std::int64_t{1} << 60, .id = 7}});
  EXPECT_EQ(keys_of(resumed), "a b ");
}

TEST_P(FollowTest, AMarkIsReadAsItWasWritten) {
  const EventMark mark{.transaction_id = 742, .id = 9};
  EXPECT_EQ(to_string(mark), "742-9");
  EXPECT_EQ(*parse_event_mark("742-9"), mark);
  for (const auto* text : {"", "742", "742-", "-9", "742-9 ", "a-b", "742--9", "99999999999999999999-1"}) {
    EXPECT_TRUE(fails(parse_event_mark(text), Errc::invalid_argument)) << text;
  }
}

TEST_P(FollowTest, BadOptionsAreRefused) {
  EXPECT_TRUE(fails(store().follow_events({.max = 0}), Errc::invalid_argument));
  EXPECT_TRUE(fails(store().follow_events({.key = std::string(10'000, 'x')}), Errc::invalid_argument));
}

/// Only PostgreSQL has transactions that write beside each other.
class FollowOpenTransactionTest : public FollowTest {
 protected:
  static constexpr int many = 10'000;

  std::string here(const std::string& name) { return under_test().schema() + "_internal." + name; }
  /// As many events as `many`, each in a commit of its own.
  void others_write() {
    other_.run("DO $$ BEGIN FOR i IN 1.." + std::to_string(many) + " LOOP INSERT INTO " + here("event") +
               " (at, kind, key, what, token, holder, host) VALUES (now(), 'lock', 'other', 'acquired', i, 'bob', ''); "
               "COMMIT; END LOOP; END $$");
  }
  void slow_begins() {
    slow_.run("BEGIN");
    slow_.run("SELECT " + here("lock_acquire('slow', 'alice')"));
  }

  PgConnection slow_{test_postgres_url()};
  PgConnection other_{test_postgres_url()};
};
INSTANTIATE_TEST_SUITE_P(Stores, FollowOpenTransactionTest, ::testing::Values(StoreKind::postgres), store_name);

TEST_P(FollowOpenTransactionTest, ATransactionThatIsOpenOverManyEventsIsShownWhenItCommits) {
  auto follower = reader();
  slow_begins();
  others_write();
  EXPECT_EQ(drained(follower).size(), std::size_t{many}) << "the others are shown at once";
  EXPECT_EQ(keys_of(follower), "") << "and once";
  slow_.run("COMMIT");
  EXPECT_EQ(keys_of(follower), "slow ");
  EXPECT_EQ(keys_of(follower), "");
}

TEST_P(FollowOpenTransactionTest, AReaderThatResumesFromItsMarkSeesEveryEventAtLeastOnce) {
  auto follower = reader();
  slow_begins();
  others_write();
  ASSERT_EQ(drained(follower).size(), std::size_t{many});
  const auto mark = follower.mark();
  slow_.run("COMMIT");
  auto resumed = reader({.after = mark});
  std::map<std::string, std::size_t> seen;
  for (const auto& event : drained(resumed)) ++seen[event.key];
  EXPECT_EQ(seen["slow"], 1U);
  EXPECT_LE(seen["other"], std::size_t{many}) << "again, because they came after the slow one";
  // With no transaction open, a mark repeats nothing. Other tests have transactions open on this server for a moment.
  EXPECT_TRUE(eventually([&] {
    drained(resumed);
    auto later = reader({.after = resumed.mark()});
    return keys_of(later).empty();
  }));
}

TEST_P(FollowOpenTransactionTest, ATransactionThatRollsBackHoldsNothingUp) {
  auto follower = reader();
  slow_begins();
  take_each({"a"});
  EXPECT_EQ(keys_of(follower), "a ");
  slow_.run("ROLLBACK");
  take_each({"b"});
  EXPECT_EQ(keys_of(follower), "b ");
}

TEST_P(FollowOpenTransactionTest, TheMarkOfAPageIsNoHigherThanATransactionThatIsOpen) {
  auto follower = reader({.max = 2});
  slow_begins();
  take_each({"a", "b", "c"});
  ASSERT_EQ(keys(*follower.next()), "a b ");
  const auto mark = follower.mark();
  slow_.run("COMMIT");
  auto resumed = reader({.after = mark});
  EXPECT_NE(keys_of(resumed).find("slow "), std::string::npos);
}

}  // namespace
}  // namespace leasehold::support
