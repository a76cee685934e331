// A command inside `lock run` that requests the lock of its wrapper: refused at once, without a wait.
#include "cli/tool.h"

namespace leasehold::support {
namespace {

class LockNesting : public StoreToolTest {
 protected:
  /// leasehold lock run OUTER... -- leasehold INNER...
  Finished inside(const Arguments& outer, const Arguments& inner) {
    Arguments words{"lock", "run"};
    words.insert(words.end(), outer.begin(), outer.end());
    words.emplace_back("--");
    words.emplace_back(LEASEHOLD_TOOL);
    words.insert(words.end(), inner.begin(), inner.end());
    return tool(words);
  }
};
LEASEHOLD_ON_BOTH_STORES(LockNesting);

TEST_P(LockNesting, ALockHeldByAnOuterWrapperIsRefusedAtOnce) {
  const auto acquire = inside({"deploy", "--holder", "ana"}, {"lock", "acquire", "deploy", "--wait", "1h"});
  EXPECT_EQ(acquire.exit_code, 1);
  EXPECT_TRUE(
      contains(acquire.err, "lock \"deploy\" is held by a command that this one runs inside (ana): it would wait "));
  EXPECT_TRUE(contains(acquire.err, "it would wait for itself"));
  EXPECT_EQ(inside({"deploy"}, {"lock", "run", "deploy", "--wait", "1h", "--", "true"}).exit_code, 125);
  EXPECT_EQ(inside({"deploy"}, {"elect", "deploy", "--", "true"}).exit_code, 125);
}

TEST_P(LockNesting, ItIsAnErrorOfItsOwnInJson) {
  const auto refused = inside({"deploy"}, {"lock", "acquire", "deploy", "--holder", "somebody", "--json"});
  EXPECT_EQ(boost::json::parse(refused.out).at("error").at("code"), "reentry");
}

TEST_P(LockNesting, ThreeLevelsDeepToo) {
  const auto refused = inside({"a"}, {"lock", "run", "b", "--", LEASEHOLD_TOOL, "lock", "run", "c", "--",
                                      LEASEHOLD_TOOL, "lock", "acquire", "a", "--wait", "1h"});
  EXPECT_EQ(refused.exit_code, 1) << refused.err;
  EXPECT_TRUE(contains(refused.err, "runs inside"));
}

TEST_P(LockNesting, AnyOfSeveralNamesIsEnough) {
  EXPECT_EQ(inside({"a", "b"}, {"lock", "acquire", "x", "b", "--wait", "1h"}).exit_code, 1);
}

TEST_P(LockNesting, OtherLocksAreTakenAsEver) {
  EXPECT_EQ(inside({"a"}, {"lock", "run", "b", "--", "true"}).exit_code, 0);
}

// They run inside of the same command, but neither runs inside of the other: they take turns.
TEST_P(LockNesting, TwoCommandsSideBySideWaitForEachOther) {
  const auto script = std::string("for i in 1 2; do \"") + LEASEHOLD_TOOL +
                      "\" lock run inner --wait 20s -- true & pids=\"$pids $!\"; done; "
                      "for pid in $pids; do wait $pid || exit 9; done";
  const auto done = tool({"lock", "run", "outer", "--", "sh", "-c", script});
  EXPECT_EQ(done.exit_code, 0) << done.err;
}

TEST_P(LockNesting, ASecondShareIsFineWhereThereIsRoomForIt) {
  EXPECT_EQ(inside({"report", "--shared"}, {"lock", "run", "report", "--shared", "--", "true"}).exit_code, 0);
  EXPECT_EQ(inside({"gpu", "--permits", "1/2"}, {"lock", "run", "gpu", "--permits", "1/2", "--", "true"}).exit_code, 0);
  EXPECT_EQ(
      inside({"gpu", "--permits", "1/2"}, {"lock", "acquire", "gpu", "--permits", "2/2", "--wait", "1h"}).exit_code, 1);
  EXPECT_EQ(inside({"report", "--shared"}, {"lock", "acquire", "report", "--wait", "1h"}).exit_code, 1);
}

TEST_P(LockNesting, TheSameNameInAnotherStoreIsAnotherLock) {
  EXPECT_EQ(inside({"deploy"}, {"lock", "run", "deploy", "--db", "sqlite:" + folder().file("other.db"), "--", "true"})
                .exit_code,
            0);
}

TEST_P(LockNesting, TheCommandKnowsTheInstanceThatHolds) {
  const auto script = std::string("echo $LEASEHOLD_INSTANCE; \"") + LEASEHOLD_TOOL + "\" lock show deploy --json";
  const auto out = tool({"lock", "run", "deploy", "--", "sh", "-c", script}).out;
  const auto end = out.find('\n');
  EXPECT_EQ(boost::json::parse(out.substr(end)).at("holder").at("instance").as_string(), out.substr(0, end));
}

}  // namespace
}  // namespace leasehold::support
