// Exit codes of commands that get a stopping signal: 0 if they only watch, 128 plus the signal if they wait.
#include "cli/tool.h"

namespace leasehold::support {
namespace {

/// As in a shell: the signal ends the commands that have nothing to clean up.
int shell_code(const Finished& finished) { return finished.signal != 0 ? 128 + finished.signal : finished.exit_code; }

class Interrupt : public StoreToolTest {
 protected:
  static constexpr Duration patience = 30s;

  [[nodiscard]] Process start(Arguments words) const {
    words.insert(words.begin(), LEASEHOLD_TOOL);
    return Process::start(words, {{"LEASEHOLD_DB", url()}, {"TZ", "UTC"}});
  }
};
LEASEHOLD_ON_BOTH_STORES(Interrupt);

TEST_P(Interrupt, AnInterruptedWatchExitsWithZero) {
  acquired("deploy");
  ASSERT_EQ(tool({"session", "open", "--id", "ann-1"}).exit_code, 0);
  ASSERT_EQ(tool({"item", "add", "SD-1"}).exit_code, 0);
  ASSERT_EQ(tool({"claim", "take", "SD-1", "--session", "ann-1"}).exit_code, 0);
  const std::vector<Arguments> watching = {{"events", "--follow"},
                                           {"lock", "watch", "deploy"},
                                           {"lock", "watch", "deploy", "--events"},
                                           {"session", "ls", "--watch"},
                                           {"claim", "ls", "--watch"}};
  for (const auto& words : watching) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      auto watcher = start(words);
      ASSERT_TRUE(watcher.read_line(patience)) << words[0] << " " << words[1];
      watcher.signal(signal);
      EXPECT_EQ(watcher.finish(patience).exit_code, 0) << words[0] << " " << words[1] << ", signal " << signal;
    }
  }
}

TEST_P(Interrupt, AnInterruptedWaitExitsWithTheSignal) {
  acquired("deploy");
  const auto added = tool({"job", "add", "mail", "hello"});
  ASSERT_EQ(added.exit_code, 0) << added.err;
  const auto id = added.out.substr(0, added.out.find('\n'));
  const std::vector<Arguments> waiting = {
      {"lock", "acquire", "deploy", "--wait", "1m"}, {"job", "wait", id}, {"queue", "drain", "mail"}};
  for (const auto& words : waiting) {
    for (const int signal : {SIGINT, SIGTERM}) {
      auto waiter = start(words);
      waiter.signal(signal);
      EXPECT_EQ(shell_code(waiter.finish(patience)), 128 + signal) << words[0] << " " << words[1];
    }
  }
}

}  // namespace
}  // namespace leasehold::support
