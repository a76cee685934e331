// A caller finds its own sessions again by its process; and one rule says everywhere whether a session is alive.
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/process.h"
#include "support/dead_holder.h"
#include "support/session_helpers.h"

namespace leasehold::support {
namespace {

class SessionMineTest : public SessionStoreTest {
 protected:
  Words mine(std::optional<ProcessId> process = {}) {
    Words ids;
    for (const auto& own : must(sessions().mine(process))) ids.push_back(own.session.id);
    return ids;
  }
  Grant open_as(const std::string& id, const Holder& holder) {
    return must(sessions().open(session_of(id), {.holder = holder}));
  }
};
LEASEHOLD_ON_BOTH_STORES(SessionMineTest);

TEST_P(SessionMineTest, ALostHandleIsFoundAgainByTheProcess) {
  open_as("other", dead_holder("gone"));
  const auto own = open_as("own", Holder::self());
  advance(1s);
  const auto parent = must(holder_of_process(getppid(), "ann"));
  const auto second = open_as("second", parent);
  const auto found = must(sessions().mine());
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().session.id, "second") << "the latest first";
  EXPECT_EQ(mine(), (Words{"second", "own"}));
  const auto handle = SessionHandle::parse(found.back().handle);
  ASSERT_TRUE(handle);
  EXPECT_EQ(handle->id, "own");
  EXPECT_EQ(handle->token, own.token);
  EXPECT_TRUE(ok(sessions().heartbeat(handle->id, handle->token))) << "it works";
  EXPECT_EQ(mine(ProcessId{parent.pid, parent.process_start}), Words{"second"});
  EXPECT_TRUE(fails(sessions().mine(ProcessId{parent.pid, parent.process_start + 1}), Errc::invalid_argument))
      << "a later process with the same pid";
}

TEST_P(SessionMineTest, OnlyLiveSessionsOfThisBootCount) {
  const auto own = open_as("own", Holder::self());
  auto elsewhere = Holder::self();
  elsewhere.boot_id = "another boot";
  open_as("elsewhere", elsewhere);
  auto later = Holder::self();
  later.process_start += 1;
  open_as("later", later);
  EXPECT_EQ(mine(), Words{"own"});
  must(sessions().close("own", own.token));
  EXPECT_EQ(mine(), Words{});
  open_as("again", Holder::self());
  advance(31s);
  EXPECT_EQ(mine(), Words{}) << "stale";
}

TEST_P(SessionMineTest, AHandleIsIdAndToken) {
  const SessionHandle handle{.id = "a.b", .token = {1763200000000000}};
  EXPECT_EQ(handle.text(), "a.b.1763200000000000");
  const auto parsed = SessionHandle::parse(handle.text());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->id, "a.b");
  EXPECT_EQ(parsed->token, handle.token);
  for (const auto* text : {"", "s-81f", "s-81f.", ".1763200000000000", "a.b", "a.12", "v1.20260101",
                           "a.176320000000000x", "a.-76320000000000", "a.17632000000000000"}) {
    EXPECT_FALSE(SessionHandle::parse(text)) << text;
  }
}

/// The same session seen from each place: alive or not.
struct Opinions {
  bool listed = false;    ///< session ls
  bool shown = false;     ///< session show
  bool may_take = false;  ///< claim take
  bool may_next = false;  ///< claim next
  bool may_path = false;
  bool keeps_its_item = false;  ///< item ls
  bool owns_its_item = false;   ///< claim show
  bool found = false;           ///< session mine, for sessions of this process
};

TEST_P(SessionMineTest, EveryPlaceAgreesWhetherASessionIsAlive) {
  struct Case {
    std::string name;
    std::function<Grant()> make;
    std::function<void(const Grant&)> change;
    bool alive = false;
  };
  const auto own = [&](const std::string& id) { return open_as(id, Holder::self()); };
  const std::vector<Case> cases{
      {"fresh", [&] { return own("fresh"); }, [](const Grant&) {}, true},
      {"silent", [&] { return own("silent"); }, [&](const Grant&) { advance(31s); }, false},
      {"idle", [&] { return own("idle"); }, [&](const Grant& it) { advance(20s), must(beat(it)), advance(20s); }, true},
      {"parked", [&] { return own("parked"); },
       [&](const Grant& it) { must(sessions().park(it.key, it.token, 1h)), advance(30min); }, true},
      {"over", [&] { return own("over"); },
       [&](const Grant& it) { must(sessions().park(it.key, it.token, 40s)), advance(41s); }, false},
      {"closed", [&] { return own("closed"); }, [&](const Grant& it) { must(sessions().close(it.key, it.token)); },
       false},
      {"revoked", [&] { return own("revoked"); }, [&](const Grant& it) { must(sessions().revoke(it.key, "x")); },
       false},
      {"gone", [&] { return open_as("gone", dead_holder("gone")); }, [](const Grant&) {}, false},
  };
  for (const auto& each : cases) {
    const auto holds = "holds-" + each.name;
    const auto wants = "wants-" + each.name;
    // By the store alone: the process that is gone is known only to this host.
    must(items().add(holds));
    const auto session = each.make();
    const auto taken = claims().take(holds, session.key, {.session_token = session.token});
    each.change(session);
    must(items().add(wants));
    Opinions says;
    for (const auto& info : must(sessions().list())) {
      says.listed = says.listed || (info.id == session.key &&
                                    (info.state == SessionState::active || info.state == SessionState::idle));
    }
    const auto shown = status(session.key);
    says.shown = shown == SessionState::active || shown == SessionState::idle;
    says.keeps_its_item = state(holds) == ItemState::claimed;
    says.owns_its_item = taken && claim(holds).active && claim(holds).held_by.state == LeaseState::running;
    const auto ids = mine();
    says.found = std::find(ids.begin(), ids.end(), session.key) != ids.end();
    says.may_take = claims().take(wants, session.key, {.session_token = session.token}).ok();
    says.may_path = claims().take_paths(session.key, session.token, {"/nowhere/" + each.name}).ok();
    must(items().add("next-" + each.name));
    says.may_next = try_next(session).ok();
    EXPECT_EQ(says.listed, each.alive) << each.name;
    EXPECT_EQ(says.shown, each.alive) << each.name;
    EXPECT_EQ(says.keeps_its_item, each.alive) << each.name;
    EXPECT_EQ(says.owns_its_item, each.alive) << each.name;
    EXPECT_EQ(says.found, each.alive) << each.name;
    EXPECT_EQ(says.may_take, each.alive) << each.name;
    EXPECT_EQ(says.may_path, each.alive) << each.name;
    EXPECT_EQ(says.may_next, each.alive) << each.name;
    static_cast<void>(sessions().revoke(session.key, "the next case"));
    for (const auto* prefix : {"holds-", "wants-", "next-"}) static_cast<void>(items().done(prefix + each.name));
  }
}

}  // namespace
}  // namespace leasehold::support
