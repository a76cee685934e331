// Sessions, items and claims as the tests of the tool handle them.
#pragma once

#include <csignal>

#include "cli/tool.h"

namespace leasehold::support {

class SessionToolTest : public StoreToolTest {
 protected:
  /// Opens a session and gives its token.
  std::string opened(const std::string& id, const Arguments& more = {}) {
    Arguments arguments = {"session", "open", "--id", id};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return std::to_string(json(arguments).at("token").as_int64());
  }
  /// Takes an item, which is added if there is none, and gives the claim's token.
  std::string taken(const std::string& item, const std::string& session) {
    const auto finished = tool({"claim", "take", item, "--session", session, "--create", "-q"});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return token_in(finished.out);
  }
  /// Lives for a minute at most, or until the test ends it: that makes a session which stands for it stale at once.
  static Process start_mortal() { return Process::start({"sleep", "60"}); }
  static void end(Process& mortal) {
    mortal.signal(SIGKILL);
    mortal.finish(std::chrono::seconds(10));
  }

  boost::json::value shown(const std::string& id) { return json({"session", "show", id}); }
  std::string status_of(const std::string& id) { return text_of(shown(id), "state"); }
  std::string state_of(const std::string& item) { return text_of(json({"item", "show", item}), "state"); }
  /// Empty where it is null.
  static std::string text_of(const boost::json::value& object, const char* member) {
    const auto& value = object.at(member);
    return value.is_string() ? std::string(value.as_string()) : std::string();
  }

  Process watch(Arguments arguments) {
    arguments.insert(arguments.begin(), LEASEHOLD_TOOL);
    arguments.insert(arguments.end(), {"--watch", "--db", url()});
    return Process::start(arguments, {{"TZ", "UTC"}});
  }
  /// Reads on until a line has this in it.
  static testing::AssertionResult tells(Process& watcher, const std::string& part) {
    std::string lines;
    while (auto line = watcher.read_line(20s)) {
      if (line->find(part) != std::string::npos) return testing::AssertionSuccess();
      lines += *line + "\n";
    }
    return testing::AssertionFailure() << "no \"" << part << "\" in:\n" << lines;
  }
};

}  // namespace leasehold::support
