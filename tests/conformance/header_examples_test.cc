// The examples at the top of the public headers, word for word, with a world around them that they can run in.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "leasehold/loader.h"
#include "leasehold/scheduler.h"
#include "leasehold/worker.h"
#include "support/process.h"
#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

class HeaderExamplesTest : public SessionStoreTest {
 protected:
  void report(const Error& error) { reported_.push_back(error.code); }
  [[nodiscard]] const std::vector<Errc>& reported() const { return reported_; }

 private:
  std::vector<Errc> reported_;
};

/// The pages 1, 2 and 3 of anything; each has ten rows.
class ExamplePage {
 public:
  explicit ExamplePage(int number) : number_(number) {}
  [[nodiscard]] bool end() const { return number_ > 3; }
  [[nodiscard]] ExamplePage next() const { return ExamplePage(number_ + 1); }
  [[nodiscard]] std::string cursor_json() const { return std::to_string(number_); }

 private:
  int number_;
};

ExamplePage first_page(std::string_view /*spec*/, const std::optional<std::string>& cursor) {
  return ExamplePage(cursor ? std::stoi(*cursor) + 1 : 1);
}

/// lock.h
class LockExampleTest : public HeaderExamplesTest {
 protected:
  void deploy() {
    auto store = open_store();
    if (!store) return report(store.error());
    auto held = store->locks().hold("deploy", {.ttl = 30s, .wait = 10s});
    if (!held) return report(held.error());
    while (!held->stop_token().stop_requested() && deploy_a_bit()) continue;
    auto released = held->release();
    if (!released) return report(released.error());
  }

  void share() {
    const auto locks = this->locks();
    auto reader = locks.acquire("report", {.share = Share{}});
    auto two = locks.acquire("gpu", {.share = Share{.permits = 2, .capacity = 8}});
    auto both = locks.acquire_all({"account/7", "account/9"});
    EXPECT_TRUE(ok(reader) && ok(two) && ok(both));
  }

  Result<Store> open_store() { return under_test().try_open(); }
  bool deploy_a_bit() {
    if (revoked_) must(locks().revoke("deploy", "not now"));
    return ++bits_ < 3;
  }

  bool revoked_ = false;
  int bits_ = 0;
};
LEASEHOLD_ON_BOTH_STORES(LockExampleTest);

TEST_P(LockExampleTest, ALockIsHeldToTheEnd) {
  deploy();
  EXPECT_EQ(bits_, 3);
  EXPECT_EQ(reported(), std::vector<Errc>{});
  EXPECT_EQ(state_of(locks(), "deploy"), LeaseState::free);
}

TEST_P(LockExampleTest, TheHolderLearnsThatItWasLost) {
  bits_ = 2;
  revoked_ = true;
  deploy();
  EXPECT_EQ(reported(), std::vector{Errc::lost});
}

TEST_P(LockExampleTest, SharesAndSeveral) {
  share();
  EXPECT_EQ(must(locks().show("gpu")).permits, 2);
}

/// election.h
class ElectionExampleTest : public HeaderExamplesTest {
 protected:
  Error campaign(const std::stop_token& shutdown) {
    const auto* store = &this->store();
    leasehold::Election election(store->locks(), "billing/leader");
    while (!shutdown.stop_requested()) {
      auto leadership = election.campaign({}, {.stop = shutdown});
      if (!leadership) return leadership.error();
      lead(leadership->term(), leadership->stop_token());
    }
    return {};
  }

  void lead(Token term, const std::stop_token& stop) {
    EXPECT_FALSE(stop.stop_requested());
    terms_.push_back(term);
    if (terms_.size() == 2) shutdown_.request_stop();
  }

  std::stop_source shutdown_;
  std::vector<Token> terms_;
};
LEASEHOLD_ON_BOTH_STORES(ElectionExampleTest);

TEST_P(ElectionExampleTest, EachLeadsUnderAGreaterTerm) {
  campaign(shutdown_.get_token());
  ASSERT_EQ(terms_.size(), 2U);
  EXPECT_GT(terms_[1], terms_[0]);
  EXPECT_EQ(state_of(locks(), "billing/leader"), LeaseState::free);
}

/// queue.h
class QueueExampleTest : public HeaderExamplesTest {
 protected:
  void send_mail() {
    auto jobs = store().jobs();
    auto added = jobs.enqueue("mail", {.payload = R"({"to":"ann"})", .priority = 5});
    if (!added) return report(added.error());

    auto claim = jobs.claim("mail", {.max = 10, .ttl = 30s});
    if (!claim) return report(claim.error());
    for (const auto& job : claim->jobs) {
      send(job.payload);
      auto done = jobs.complete(job.id, job.token);
      if (!done) return report(done.error());
    }
  }

  void send(const std::string& payload) {
    sent_.push_back(payload);
    if (!slow_) return;
    advance(31s);
    support::claim(jobs(), "mail", claiming(), by("bob"));
  }

  Words sent_;
  bool slow_ = false;
};
LEASEHOLD_ON_BOTH_STORES(QueueExampleTest);

TEST_P(QueueExampleTest, AJobIsDone) {
  send_mail();
  EXPECT_EQ(sent_, Words{R"({"to":"ann"})"});
  EXPECT_EQ(reported(), std::vector<Errc>{});
  EXPECT_TRUE(fails(jobs().claim("mail"), Errc::empty));
}

TEST_P(QueueExampleTest, TheHolderLearnsThatItWasLost) {
  slow_ = true;
  send_mail();
  EXPECT_EQ(reported(), std::vector{Errc::lost});
}

/// chunk.h
class ChunkExampleTest : public HeaderExamplesTest {
 protected:
  void sync() {
    auto chunks = store().chunks();
    auto plan = leasehold::plan_range(1, 1'000'000, 10'000);
    if (!plan) return report(plan.error());
    plan->resize(2);  // enough for a test
    auto planned = chunks.plan("orders", *plan);
    if (!planned) return report(planned.error());

    for (;;) {
      auto grant = chunks.claim("orders", {.wait = 1h});
      if (!grant) return report(grant.error());
      const auto& chunk = grant->chunks.front();
      auto rows = chunk.rows;
      for (auto page = first_page(chunk.spec, chunk.cursor); !page.end(); page = page.next()) {
        rows += load(page);
        auto saved = chunks.heartbeat("orders", chunk.key, chunk.token, {.cursor = page.cursor_json(), .rows = rows});
        if (!saved) return report(saved.error());
      }
      auto done = chunks.complete("orders", chunk.key, chunk.token, {.rows = rows});
      if (!done) return report(done.error());
    }
  }

  int load(const ExamplePage& /*page*/) {
    if (++loaded_ == slow_at_) advance(1h);
    return 10;
  }

  int loaded_ = 0;
  int slow_at_ = 0;
};
LEASEHOLD_ON_BOTH_STORES(ChunkExampleTest);

TEST_P(ChunkExampleTest, ASetIsLoaded) {
  sync();
  EXPECT_EQ(reported(), std::vector{Errc::empty});
  const auto set = must(store().chunks().progress("orders"));
  EXPECT_EQ(set.state, ChunkSetState::complete);
  EXPECT_EQ(set.rows, 60);
}

TEST_P(ChunkExampleTest, ItStopsWhereItWasLostAndGoesOnFromThere) {
  slow_at_ = 2;
  sync();
  EXPECT_EQ(reported(), std::vector{Errc::lost});
  EXPECT_EQ(loaded_, 2);
  sync();
  EXPECT_EQ(loaded_, 2 + 5) << "page 2 again, and all that follows";
  EXPECT_EQ(must(store().chunks().progress("orders")).rows, 60);
}

/// schedule.h
class ScheduleExampleTest : public HeaderExamplesTest {
 protected:
  void refresh_if_due() {
    auto schedules = store().schedules();
    auto ensured = schedules.ensure("refresh", {.rule = every(10min, 15min), .on_fail = Between{20min, 40min}});
    if (!ensured) return report(ensured.error());

    auto run = schedules.acquire("refresh");
    if (!run) return report(run.error());
    auto finished = schedules.settle("refresh", run->grant.token, {.ok = refresh()});
    if (!finished) return report(finished.error());
  }

  bool refresh() {
    ++refreshed_;
    return true;
  }

  int refreshed_ = 0;
};
LEASEHOLD_ON_BOTH_STORES(ScheduleExampleTest);

TEST_P(ScheduleExampleTest, ItRunsOnceUntilItIsDueAgain) {
  refresh_if_due();
  refresh_if_due();
  EXPECT_EQ(refreshed_, 1);
  EXPECT_EQ(reported(), std::vector{Errc::not_due});
}

/// session.h and claim.h
class ClaimExampleTest : public HeaderExamplesTest {
 protected:
  void work_in_a_session() {
    auto& store = this->store();
    auto session = store.sessions().hold({.label = "fixing the parser", .codebase = "~/src/parser"});
    if (!session) return report(session.error());
    auto claim = store.claims().take("SD-1", session->grant().key, {.session_token = session->grant().token});
    if (!claim) return report(claim.error());
    EXPECT_EQ(state("SD-1"), ItemState::claimed);
  }

  void work_on_an_item(const std::string& session_id, Token session_token) {
    auto& store = this->store();
    auto added = store.items().add("SD-1", {.title = "Parse nested comments"});
    if (!added) return report(added.error());
    auto claim = store.claims().take("SD-1", session_id, {.session_token = session_token});
    if (!claim) return report(claim.error());
    work_on(*claim);
    auto done = store.items().done("SD-1", claim->token);
    if (!done) return report(done.error());
  }

  void work_on(const Claim& claim) {
    EXPECT_EQ(claim.key, "SD-1");
    if (!silent_) return;
    advance(31s);
    join("bob");
    take("bob", "SD-1");
  }

  bool silent_ = false;
};
LEASEHOLD_ON_BOTH_STORES(ClaimExampleTest);

TEST_P(ClaimExampleTest, AnItemIsClaimedWhileTheSessionLasts) {
  backlog({"SD-1"});
  work_in_a_session();
  EXPECT_EQ(reported(), std::vector<Errc>{});
  EXPECT_EQ(state("SD-1"), ItemState::open);
}

TEST_P(ClaimExampleTest, AnItemIsDone) {
  work_on_an_item("ann", join("ann").token);
  EXPECT_EQ(reported(), std::vector<Errc>{});
  EXPECT_EQ(state("SD-1"), ItemState::done);
}

TEST_P(ClaimExampleTest, TheHolderLearnsThatItWasLost) {
  silent_ = true;
  work_on_an_item("ann", join("ann").token);
  EXPECT_EQ(reported(), std::vector{Errc::lost});
}

/// rate.h
class RateExampleTest : public HeaderExamplesTest {
 protected:
  void fetch() {
    auto rates = store().rates();
    for (bool more = true; more; more = fetch_a_page()) {
      auto slot = rates.take("orders-api", {.every = 750ms});
      if (!slot) return report(slot.error());
    }
  }

  bool fetch_a_page() {
    advance(750ms);
    return ++pages_ < 3;
  }

  int pages_ = 0;
};
LEASEHOLD_ON_BOTH_STORES(RateExampleTest);

TEST_P(RateExampleTest, EveryPageHasItsTurn) {
  fetch();
  EXPECT_EQ(pages_, 3);
  EXPECT_EQ(must(store().rates().show("orders-api")).taken, 3);
}

/// worker.h, loader.h and scheduler.h
class RuntimeExampleTest : public HeaderExamplesTest {
 protected:
  struct Letter {
    std::string to;
  };

  void work() {
    const auto* store = &this->store();
    leasehold::Worker worker(*store, {.concurrency = 8});
    worker.handle("mail", [](const Job& job, JobContext& context) -> Verdict {
      for (const auto& letter : letters_of(job.payload)) {
        if (context.stop_requested()) return Verdict::release();
        if (!send(letter)) return Verdict::fail("the mail server refused " + letter.to);
        context.progress({.message = letter.to});
      }
      return Verdict::complete();
    });
    auto summary = worker.run(stop.get_token());
    if (!summary) return report(summary.error());
  }

  void load_all() {
    const auto* store = &this->store();
    leasehold::Loader loader(*store, "orders", {.concurrency = 4});
    auto summary = loader.run([](const Chunk& chunk, ChunkContext& context) -> Verdict {
      auto rows = chunk.rows;
      for (auto page = first_page(chunk.spec, chunk.cursor); !page.end(); page = page.next()) {
        if (context.stop_requested()) return Verdict::release();
        rows += load(page);
        auto saved = context.save({.cursor = page.cursor_json(), .rows = rows});
        if (!saved) return Verdict::release();
      }
      return Verdict::complete().with_rows(rows);
    });
    if (!summary) return report(summary.error());
  }

  void keep_time() {
    const auto* store = &this->store();
    leasehold::Scheduler scheduler(*store);
    scheduler.handle("refresh", [](const ScheduleRun& /*run*/, RunContext& context) -> RunVerdict {
      for (const auto& source : sources()) {
        if (context.stop_requested()) return RunVerdict::release();
        if (!refresh(source)) return RunVerdict::fail("no answer from " + source);
      }
      return RunVerdict::complete();
    });
    auto summary = scheduler.run(stop.get_token());
    if (!summary) return report(summary.error());
  }

  static std::vector<Letter> letters_of(const std::string& payload) { return {{payload}, {"copy of " + payload}}; }
  static bool send(const Letter& letter) { return letter.to != "copy of nobody"; }
  static int load(const ExamplePage& /*page*/) { return 10; }
  static Words sources() { return {"here", "there"}; }
  static bool refresh(const std::string& source) { return source != "there"; }

  /// Runs one of the above until what it has to do is done.
  template <typename Run>
  void until(const std::function<bool()>& done, Run run) {
    std::jthread runtime(run);
    EXPECT_TRUE(eventually(done));
    stop.request_stop();
  }

  std::stop_source stop;
};
LEASEHOLD_ON_BOTH_STORES(RuntimeExampleTest);

TEST_P(RuntimeExampleTest, AWorkerSendsMail) {
  const auto ann = add(jobs(), "mail", {.payload = "ann"});
  const auto nobody = add(jobs(), "mail", {.payload = "nobody"});
  // An attempt that is still running has an outcome, too.
  const auto settled = [&](JobId id) {
    const auto outcomes = outcomes_of(jobs(), id);
    return !outcomes.empty() && outcomes.front() != "running";
  };
  until([&] { return settled(ann) && settled(nobody); }, [&] { work(); });
  EXPECT_EQ(state_of(jobs(), ann), JobState::completed);
  EXPECT_EQ(must(jobs().show(nobody)).error, "the mail server refused copy of nobody");
  EXPECT_EQ(reported(), std::vector<Errc>{});
}

TEST_P(RuntimeExampleTest, ALoaderLoadsASet) {
  const std::vector<PlannedChunk> plan{{.key = "a", .spec = "1"}, {.key = "b", .spec = "2"}};
  must(store().chunks().plan("orders", plan));
  load_all();
  EXPECT_EQ(must(store().chunks().progress("orders")).rows, 60);
  EXPECT_EQ(reported(), std::vector<Errc>{});
}

TEST_P(RuntimeExampleTest, ASchedulerRunsWhatIsDue) {
  must(store().schedules().set("refresh", {.rule = every(10min), .next_run_in = 0s}));
  const auto last = [&] { return must(store().schedules().show("refresh")).last; };
  until([&] { return last().has_value(); }, [&] { keep_time(); });
  EXPECT_EQ(last()->error, "no answer from there");
  EXPECT_EQ(reported(), std::vector<Errc>{});
}

}  // namespace
}  // namespace leasehold::support
