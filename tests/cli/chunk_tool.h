// Chunks as the tests of the tool handle them.
#pragma once

#include "cli/tool.h"

namespace leasehold::support {

class ChunkToolTest : public StoreToolTest {
 protected:
  /// A set of one chunk for each key.
  void plan(const std::string& set, const Arguments& keys, const Arguments& more = {}) {
    std::string lines;
    for (const auto& key : keys) lines += R"({"key":")" + key + "\"}\n";
    Arguments arguments = {"chunk", "plan", set, "--file", "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto finished = tool(arguments, {}, lines);
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
  }

  struct Held {
    std::string key;
    std::string token;
  };
  Held claimed(const std::string& set, const Arguments& more = {}) {
    Arguments arguments = {"chunk", "claim", set, "-q"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto finished = tool(arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return {finished.out.substr(0, finished.out.rfind(' ')), token_in(finished.out)};
  }

  /// A verdict, or a heartbeat, about a held chunk.
  Finished say(const std::string& what, const std::string& set, const Held& held, const Arguments& more = {}) {
    Arguments arguments = {"chunk", what, set, held.key, "--token", held.token};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return tool(arguments);
  }

  std::string state_of(const std::string& set, const std::string& key) {
    return std::string(json({"chunk", "show", set, key}).at("state").as_string());
  }
};

}  // namespace leasehold::support
