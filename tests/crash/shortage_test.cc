// Too few processes and threads for `work` and `elect`: they neither abort nor charge a job for what they cannot start.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "support/process.h"
#include "support/temp_dir.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;

/// Runs the tool as a user without other processes: the limit on processes and threads counts by user, and root has
/// none.
class Shortage : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become a user without other processes";
    std::filesystem::copy_file(LEASEHOLD_TOOL, folder_.file("leasehold"));
    std::filesystem::permissions(folder_.file("leasehold"), std::filesystem::perms(0755));
    ASSERT_EQ(::chown(folder_.path().c_str(), nobody, nobody), 0);
  }

  /// `processes`: how many processes and threads there may be; 0 for any number. What waits is ended after two seconds.
  [[nodiscard]] Finished tool(int processes, const Arguments& words) const {
    const auto user = std::to_string(nobody);
    Arguments all{"timeout", "2", "setpriv", "--reuid=" + user, "--regid=" + user, "--clear-groups"};
    if (processes > 0) all.insert(all.end(), {"prlimit", "--nproc=" + std::to_string(processes)});
    all.insert(all.end(), {folder_.file("leasehold"), "--db", "sqlite:" + folder_.file("store.db")});
    all.insert(all.end(), words.begin(), words.end());
    return run(all);
  }

  static constexpr uid_t nobody = 65534;
  TempDir folder_;
};

TEST_F(Shortage, WorkWithTooFewThreadsChargesNoJob) {
  ASSERT_EQ(tool(0, {"job", "add", "q", "payload"}).exit_code, 0);
  for (int processes = 1; processes <= 8; ++processes) {
    const auto worked = tool(processes, {"work", "q", "--once", "--", "true"});
    EXPECT_EQ(worked.err.find("terminate called"), std::string::npos) << worked.err;
    const auto shown = tool(0, {"job", "show", "1", "--json"});
    EXPECT_NE(shown.out.find("\"failures\":0,"), std::string::npos) << processes << ": " << shown.out;
    EXPECT_NE(shown.out.find("\"crashes\":0,"), std::string::npos) << processes << ": " << shown.out;
  }
}

TEST_F(Shortage, ElectWithTooFewThreadsDoesNotAbort) {
  for (int processes = 1; processes <= 8; ++processes) {
    const auto stood = tool(processes, {"elect", "boss", "--once", "--", "true"});
    EXPECT_EQ(stood.err.find("terminate called"), std::string::npos) << stood.err;
    EXPECT_LT(stood.exit_code, 134) << processes << ": " << stood.err;
  }
  EXPECT_EQ(tool(0, {"elect", "boss", "--once", "--", "true"}).exit_code, 0) << "the lease is free again";
}

}  // namespace
}  // namespace leasehold::support
