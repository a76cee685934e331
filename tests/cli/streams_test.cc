// Standard streams that are closed, or that nothing more fits into.
#include "cli/tool.h"

namespace leasehold::support {
namespace {

class Streams : public StoreToolTest {
 protected:
  /// leasehold WORDS, as a shell understands them.
  [[nodiscard]] Finished shell(const std::string& words) const {
    return run({"/bin/sh", "-c", "exec \"$0\" " + words, LEASEHOLD_TOOL}, {{"LEASEHOLD_DB", url()}});
  }
};
LEASEHOLD_ON_BOTH_STORES(Streams);

TEST_P(Streams, AClosedInputIsNotReadFromTheStore) {
  const auto finished = shell("job import mail - <&-");
  EXPECT_EQ(finished.exit_code, 1) << finished.out;
  EXPECT_TRUE(contains(finished.err, "cannot be read"));
}

TEST_P(Streams, NothingIsWrittenToTheStoreInPlaceOfAClosedOutput) {
  for (const auto* closed : {">&-", ">&- 2>&-", "<&- >&- 2>&-"}) {
    EXPECT_EQ(shell(std::string("lock acquire deploy --ttl 50ms --wait 10s ") + closed).exit_code, 1) << closed;
  }
  EXPECT_EQ(tool({"status"}).exit_code, 0) << "the store is whole";
  EXPECT_EQ(tool({"lock", "show", "deploy"}).exit_code, 0);
}

TEST_P(Streams, AnEndlessPrintEndsWhenTheOutputIsFull) {
  acquired("deploy");
  tool({"session", "open", "--id", "ann-1"});
  for (const auto* words : {"events -f", "session ls -w", "lock watch deploy", "--version", "--help"}) {
    const auto finished = shell(std::string(words) + " > /dev/full");
    EXPECT_EQ(finished.exit_code, 1) << words << finished.err;
    EXPECT_TRUE(contains(finished.err, "cannot write the result to stdout"));
  }
}

}  // namespace
}  // namespace leasehold::support
