// The live stream loses no event: not to a transaction that stays open, a restart, a slow client or a resume.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "serve/stream_client.h"
#include "support/pg.h"

namespace leasehold::support {
namespace {

class StreamEventsTest : public LiveTest {
 protected:
  void take_each(const std::vector<std::string>& names) {
    for (const auto& name : names) take(locks(), name, {}, by("alice"));
  }
  /// Events in one commit, each with a key of its own and a detail of so many bytes.
  void write_events(int count, std::size_t size = 10) {
    const bool postgres = GetParam() == StoreKind::postgres;
    const std::string numbers =
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " + std::to_string(count) + ") ";
    const std::string columns = " (at, kind, key, what, token, holder, host, detail) ";
    const auto prefix = "'" + std::to_string(++batches_) + ":' || ";
    under_test().run(numbers + "INSERT INTO " + under_test().table("event") + columns + "SELECT " +
                     (postgres ? "now()" : "0") + ", 'job', " + prefix + "i, 'cancelled', 0, 'alice', '', '" +
                     std::string(size, 'x') + "' FROM n");
  }
  /// How often each key came.
  static std::map<std::string, int> keys_in(StreamClient& client) {
    std::map<std::string, int> keys;
    for (const auto& frame : client.take()) {
      if (frame.name != "event") continue;
      const auto begin = frame.data.find(R"("key":")") + 7;
      ++keys[frame.data.substr(begin, frame.data.find('"', begin) - begin)];
    }
    return keys;
  }
  static std::string list(const std::map<std::string, int>& keys) {
    std::string text;
    for (const auto& [key, count] : keys) text += key + " ";
    return text;
  }

 private:
  int batches_ = 0;
};
LEASEHOLD_ON_BOTH_STORES(StreamEventsTest);

TEST_P(StreamEventsTest, AClientGetsEventsFromNowOn) {
  take_each({"past"});
  auto ann = connect("events");
  turn();
  const auto hello = ann.take().at(0);
  EXPECT_FALSE(hello.id.empty()) << "a browser resumes there even if no event came";
  take_each({"a", "b"});
  turn(50ms);
  EXPECT_EQ(list(keys_in(ann)), "a b ");
  turn();
  EXPECT_EQ(list(keys_in(ann)), "");
}

TEST_P(StreamEventsTest, AnEventThatTheStoreDidNotAnnounceComesSoonAndItsRowsToo) {
  auto ann = connect("events,leases");
  turn();
  ann.take();
  take_each({"a"});
  // PostgreSQL announces only what a process waits for.
  turn_unchanged(GetParam() == StoreKind::postgres ? 100ms : 1s);
  auto names = ann.names();
  EXPECT_TRUE(names.starts_with("event ")) << names;
  turn_unchanged(500ms);
  names += ann.names();
  EXPECT_EQ(names, "event leases ");
}

TEST_P(StreamEventsTest, RowsThatWaitForTheirTurnDoNotDelayTheNextEvent) {
  auto ann = connect("events,leases");
  turn();
  take_each({"a"});
  EXPECT_FALSE(turn(50ms).soon) << "the rows wait for half a second, and the next change must wake it for events";
  EXPECT_TRUE(turn(1ms).soon) << "a change has come, so both wait: further changes need not wake it";
}

TEST_P(StreamEventsTest, AClientThatReconnectsMissesNothingAlsoAfterARestart) {
  auto ann = connect("events");
  turn();
  take_each({"a"});
  turn();
  EXPECT_EQ(list(keys_in(ann)), "a ");
  ann.stream()->client_gone();
  take_each({"b"});
  turn();
  restart();
  take_each({"c"});
  auto again = connect("events", ann.last_id());
  turn_all();
  const auto keys = keys_in(again);
  EXPECT_TRUE(keys.contains("b") && keys.contains("c")) << list(keys);
  take_each({"d"});
  turn();
  EXPECT_EQ(list(keys_in(again)), "d ") << "it has joined the others: " << list(keys);
}

TEST_P(StreamEventsTest, AClientThatGotOnlyTheHelloResumesThere) {
  auto ann = connect("events");
  turn();
  EXPECT_EQ(ann.take().at(0).name, "hello");
  ann.stream()->client_gone();
  take_each({"a"});
  auto again = connect("events", ann.last_id());
  turn_all();
  EXPECT_EQ(list(keys_in(again)), "a ");
}

TEST_P(StreamEventsTest, ALongBacklogComesInPagesBetweenTheNewEventsOfOthers) {
  write_events(3'000);
  auto ann = connect("events");
  turn();
  ann.take();
  auto late = connect("events", EventMark{});
  take_each({"new"});
  turn(50ms);
  EXPECT_EQ(list(keys_in(ann)), "new ") << "no client waits for the backlog of another";
  std::size_t seen = keys_in(late).size();
  EXPECT_LE(seen, 200U) << "a page at a time";
  for (int i = 0; i < 1'000 && seen < 100'001; ++i) {
    turn(50ms);
    seen += keys_in(late).size();
  }
  EXPECT_GE(seen, 3'001U);
  take_each({"newer"});
  turn_all();
  EXPECT_EQ(list(keys_in(late)), "newer ");
}

TEST_P(StreamEventsTest, AClientThatDoesNotReadGetsNoMoreOfItsBacklog) {
  write_events(3'000, 2'000);
  auto late = connect("events", EventMark{});
  turn_all();
  EXPECT_LE(late.stream()->waiting(), std::size_t{1} << 20);
  std::size_t seen = 0;
  for (int i = 0; i < 1'000 && seen < 3'000; ++i) {
    seen += keys_in(late).size();
    turn(50ms);
  }
  EXPECT_EQ(seen, 3'000U);
}

TEST_P(StreamEventsTest, ASlowClientGetsEveryEventAfterItsReset) {
  auto slow = connect("events");
  turn();
  std::size_t wanted = 0;
  for (; slow.stream()->waiting() <= serve::Listener::max_waiting; wanted += 50) {
    write_events(50, 4'000);
    turn();
  }
  const auto waiting = slow.stream()->waiting();
  write_events(20, 4'000);
  turn();
  EXPECT_EQ(slow.stream()->waiting(), waiting) << "it gets nothing more";
  std::set<std::string> seen;
  std::string names;
  for (int i = 0; i < 100; ++i) {
    for (const auto& frame : slow.take()) {
      if (frame.name != "event") {
        names += frame.name + " ";
        continue;
      }
      const auto begin = frame.data.find(R"("key":")") + 7;
      seen.insert(frame.data.substr(begin, frame.data.find('"', begin) - begin));
    }
    turn(50ms);
  }
  EXPECT_NE(names.find("reset "), std::string::npos) << names;
  EXPECT_EQ(seen.size(), wanted + 20);
}

/// Only PostgreSQL has transactions that write beside each other.
class StreamOpenTransactionTest : public StreamEventsTest {
 protected:
  static constexpr int many = 10'000;

  std::string here(const std::string& name) { return under_test().schema() + "_internal." + name; }
  void others_write(int count) {
    other_.run("DO $$ BEGIN FOR i IN 1.." + std::to_string(count) + " LOOP INSERT INTO " + here("event") +
               " (at, kind, key, what, token, holder, host) VALUES (now(), 'lock', 'other', 'acquired', i, 'bob', ''); "
               "COMMIT; END LOOP; END $$");
  }
  void slow_begins() {
    slow_.run("BEGIN");
    slow_.run("SELECT " + here("lock_acquire('slow', 'alice')"));
  }
  /// Until nothing comes any more.
  std::map<std::string, int> read_all(StreamClient& client) {
    std::map<std::string, int> all;
    for (bool more = true; more;) {
      const bool soon = turn(50ms).soon;
      const auto keys = keys_in(client);
      for (const auto& [key, count] : keys) all[key] += count;
      more = soon || !keys.empty();
    }
    return all;
  }

  PgConnection slow_{test_postgres_url()};
  PgConnection other_{test_postgres_url()};
};
INSTANTIATE_TEST_SUITE_P(Stores, StreamOpenTransactionTest, ::testing::Values(StoreKind::postgres), store_name);

TEST_P(StreamOpenTransactionTest, ATransactionThatIsOpenOverTenThousandEventsIsShownWhenItCommits) {
  auto ann = connect("events");
  turn();
  ann.take();
  slow_begins();
  others_write(many);
  EXPECT_EQ(read_all(ann)["other"], many) << "the others are shown at once";
  slow_.run("COMMIT");
  EXPECT_EQ(list(read_all(ann)), "slow ");
}

TEST_P(StreamOpenTransactionTest, AClientThatReconnectsToARestartedServerSeesIt) {
  auto ann = connect("events");
  turn();
  slow_begins();
  others_write(many);
  EXPECT_EQ(read_all(ann)["other"], many);
  const auto mark = ann.last_id();
  restart();
  slow_.run("COMMIT");
  others_write(5);
  auto again = connect("events", mark);
  const auto keys = read_all(again);
  EXPECT_EQ(keys.at("slow"), 1);
  EXPECT_GE(keys.at("other"), 5);
}

TEST_P(StreamOpenTransactionTest, AClientWhoseBacklogEndsJoinsWithoutAGap) {
  auto ann = connect("events");
  turn();
  const auto mark = ann.take().at(0).id;
  slow_begins();
  others_write(1'000);
  auto late = connect("events", *parse_event_mark(mark));
  std::map<std::string, int> keys;
  // The slow transaction commits in the middle of the backlog.
  for (int i = 0; i < 3; ++i) {
    turn(50ms);
    for (const auto& [key, count] : keys_in(late)) keys[key] += count;
  }
  slow_.run("COMMIT");
  others_write(10);
  for (const auto& [key, count] : read_all(late)) keys[key] += count;
  EXPECT_GE(keys["other"], 1'010);
  EXPECT_GE(keys["slow"], 1);
}

}  // namespace
}  // namespace leasehold::support
