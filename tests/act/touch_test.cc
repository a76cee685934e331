// What the patterns of an API token allow, act by act.
#include <gtest/gtest.h>

#include "act/act.h"
#include "leasehold/access.h"
#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::act {

void PrintTo(const Touched& thing, std::ostream* out) { *out << thing.kind << ":" << thing.name; }

}  // namespace leasehold::act

namespace leasehold::support {
namespace {

using act::Touched;

std::vector<Touched> touched(std::string_view name, std::string_view arguments) {
  return must(act::touched_by(*act::find(name), arguments));
}

TEST(TouchTest, AnArgumentNamesTheThing) {
  EXPECT_EQ(touched("lock.acquire", R"({"name":"deploy"})"), (std::vector<Touched>{{"lock", "deploy"}}));
  EXPECT_EQ(touched("lock.acquire_all", R"({"names":["a","b"]})"),
            (std::vector<Touched>{{"lock", "a"}, {"lock", "b"}}));
  EXPECT_EQ(touched("job.enqueue", R"({"queue":"mail","payload":{}})"), (std::vector<Touched>{{"queue", "mail"}}));
  EXPECT_EQ(touched("job.enqueue_all", R"({"queue":"mail","jobs":[{"payload":1}]})"),
            (std::vector<Touched>{{"queue", "mail"}}));
  EXPECT_EQ(touched("job.complete", R"({"id":17,"token":4})"), (std::vector<Touched>{{"job", "17"}}));
  EXPECT_EQ(touched("job.settle", R"({"settlements":[{"id":17,"token":4,"verdict":"release"},
                                                     {"id":18,"token":4,"verdict":"release"}]})"),
            (std::vector<Touched>{{"job", "17"}, {"job", "18"}}));
  EXPECT_EQ(touched("queue.pause", R"({"name":"mail"})"), (std::vector<Touched>{{"queue", "mail"}}));
  EXPECT_EQ(touched("chunk.claim", R"({"set":"orders"})"), (std::vector<Touched>{{"chunks", "orders"}}));
  EXPECT_EQ(touched("rate.take", R"({"name":"api"})"), (std::vector<Touched>{{"rate", "api"}}));
  EXPECT_EQ(touched("claim.take", R"({"key":"SD-1","session":"s","session_token":1})"),
            (std::vector<Touched>{{"item", "SD-1"}}));
  EXPECT_EQ(touched("row.list", R"({"table":"sync_jobs"})"), (std::vector<Touched>{{"table", "sync_jobs"}}));
}

TEST(TouchTest, SomeActsTouchTwoThings) {
  EXPECT_EQ(touched("schedule.rename", R"({"name":"a","to":"b"})"),
            (std::vector<Touched>{{"schedule", "a"}, {"schedule", "b"}}));
  EXPECT_EQ(touched("schedule.set", R"({"name":"a","cron":"@daily","queue":"mail"})"),
            (std::vector<Touched>{{"schedule", "a"}, {"queue", "mail"}}));
  EXPECT_EQ(touched("chunk.tie_job", R"({"set":"orders","job_id":3,"token":1})"),
            (std::vector<Touched>{{"chunks", "orders"}, {"job", "3"}}));
}

TEST(TouchTest, WithoutTheArgumentItIsEveryThingOfTheKind) {
  EXPECT_EQ(touched("job.list", "{}"), (std::vector<Touched>{{"queue", ""}}));
  EXPECT_EQ(touched("job.list", R"({"queue":"mail"})"), (std::vector<Touched>{{"queue", "mail"}}));
  EXPECT_EQ(touched("lock.list", R"({"prefix":"a"})"), (std::vector<Touched>{{"lock", ""}}));
  EXPECT_EQ(touched("job.batch", R"({"id":"b"})"), (std::vector<Touched>{{"queue", ""}}));
  EXPECT_EQ(touched("claim.next", R"({"session":"s","session_token":1})"), (std::vector<Touched>{{"item", ""}}));
  EXPECT_EQ(touched("session.open", "{}"), (std::vector<Touched>{{"session", ""}}));
}

TEST(TouchTest, TheRestTouchesTheWholeStore) {
  for (const auto* name : {"store.status", "store.prune", "event.list", "lease.list", "token.list", "audit.list"}) {
    EXPECT_EQ(touched(name, name == std::string_view("store.prune") ? R"({"older_than_seconds":0})" : "{}"),
              (std::vector<Touched>{{"", ""}}))
        << name;
  }
}

TEST(TouchTest, EveryKindIsOneThatPatternsKnow) {
  for (const auto& act : act::all()) {
    const auto things = act::touched_by(act, act.example);
    ASSERT_TRUE(ok(things)) << act.name;
    for (const auto& thing : *things) {
      const bool known =
          thing.kind.empty() || thing.kind == "job" ||
          std::find(std::begin(pattern_kinds), std::end(pattern_kinds), thing.kind) != std::end(pattern_kinds);
      EXPECT_TRUE(known) << act.name << " " << thing.kind;
    }
  }
}

class TouchStoreTest : public StoreTest {
 protected:
  Result<void> check(std::string_view name, std::string_view arguments, const std::vector<std::string>& only) {
    return act::check_touch(store(), *act::find(name), arguments, only);
  }
};
LEASEHOLD_ON_BOTH_STORES(TouchStoreTest);

TEST_P(TouchStoreTest, PatternsDecide) {
  const std::vector<std::string> only{"queue:mail*"};
  EXPECT_TRUE(ok(check("job.claim", R"({"queue":"mail-eu"})", only)));
  EXPECT_TRUE(fails(check("job.claim", R"({"queue":"print"})", only), Errc::denied));
  EXPECT_TRUE(fails(check("job.list", "{}", only), Errc::denied));
  EXPECT_TRUE(fails(check("lock.acquire", R"({"name":"mail"})", only), Errc::denied));
  EXPECT_TRUE(fails(check("store.status", "{}", only), Errc::denied));
  EXPECT_TRUE(ok(check("store.status", "{}", {"*"})));
  EXPECT_TRUE(ok(check("store.status", "{}", {})));
}

TEST_P(TouchStoreTest, AJobBelongsToItsQueue) {
  const auto mail = must(jobs().enqueue("mail", NewJob{.payload = "x"})).id;
  const auto print = must(jobs().enqueue("print", NewJob{.payload = "x"})).id;
  const auto show = [&](JobId id) { return check("job.show", "{\"id\":" + std::to_string(id) + "}", {"queue:mail*"}); };
  EXPECT_TRUE(ok(show(mail)));
  EXPECT_TRUE(fails(show(print), Errc::denied));
  EXPECT_TRUE(ok(show(print + 1))) << "the act says that it does not exist";
}

TEST_P(TouchStoreTest, OfTwoEqualKeysTheOneThatTheActReadsCounts) {
  const auto* twice = R"({"queue":"mail","queue":"print","payload":1})";
  const auto checked = check("job.enqueue", twice, {"queue:mail"});
  const auto enqueued = checked ? act::call(store(), "job.enqueue", twice) : std::string();
  EXPECT_TRUE(must(jobs().list({.queue = "print"})).empty()) << enqueued;
}

}  // namespace
}  // namespace leasehold::support
