// The tool as a test uses it: on a SQLite file of its own, with nothing of the tester's environment.
#pragma once

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <string>

#include "support/process.h"
#include "support/temp_dir.h"

namespace leasehold::support {

class ToolTest : public testing::Test {
 protected:
  /// leasehold ARGUMENTS..., on this test's own file.
  Finished tool(Arguments arguments, Environment env = {}) {
    arguments.insert(arguments.begin(), LEASEHOLD_TOOL);
    env.merge(Environment{{"LEASEHOLD_DB", "sqlite:" + file()}, {"LEASEHOLD_TOKEN", ""}, {"TZ", "UTC"}});
    return run(arguments, env);
  }

  /// What it prints with --json, parsed.
  boost::json::value json(Arguments arguments, int expected_code = 0) {
    arguments.push_back("--json");
    const auto finished = tool(arguments);
    EXPECT_EQ(finished.exit_code, expected_code) << finished.out << finished.err;
    std::error_code broken;
    auto value = boost::json::parse(finished.out, broken);
    EXPECT_FALSE(broken) << broken.message() << ": " << finished.out;
    return value;
  }

  /// Takes the lock and gives its token.
  std::string acquired(const std::string& name, const Arguments& more = {}) {
    Arguments arguments = {"lock", "acquire", name, "-q"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto finished = tool(arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.out.substr(0, finished.out.find('\n'));
  }

  [[nodiscard]] std::string file() const { return folder_.file("test.db"); }
  [[nodiscard]] const TempDir& folder() const { return folder_; }

 private:
  TempDir folder_;
};

inline testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no \"" << part << "\" in:\n" << text;
}

}  // namespace leasehold::support
