// The tool as a test uses it: on a SQLite file of its own, with nothing of the tester's environment.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <string>

#include "cli/schema_check.h"
#include "support/process.h"
#include "support/store_fixture.h"
#include "support/temp_dir.h"

namespace leasehold::support {

class ToolTest : public testing::Test {
 protected:
  ToolTest() {
    // A test started in the background of a script has it ignored, and so would what it starts.
    ::signal(SIGINT, SIG_DFL);
  }

  /// leasehold ARGUMENTS..., on this test's own store.
  Finished tool(Arguments arguments, Environment env = {}, const std::string& input = {}) {
    arguments.insert(arguments.begin(), LEASEHOLD_TOOL);
    env.merge(Environment{{"LEASEHOLD_DB", url()},
                          {"LEASEHOLD_TOKEN", ""},
                          {"LEASEHOLD_JOB_ID", ""},
                          {"LEASEHOLD_JOB_TOKEN", ""},
                          {"LEASEHOLD_LOCK", ""},
                          {"LEASEHOLD_LOCK_TOKEN", ""},
                          {"LEASEHOLD_SCHEDULE", ""},
                          {"LEASEHOLD_SCHEDULE_TOKEN", ""},
                          {"LEASEHOLD_SESSION", ""},
                          {"LEASEHOLD_SESSION_TOKEN", ""},
                          {"LEASEHOLD_TABLE", ""},
                          {"LEASEHOLD_ROW", ""},
                          {"LEASEHOLD_ROW_TOKEN", ""},
                          {"TZ", "UTC"}});
    return run(arguments, env, input);
  }

  /// Its output with --json, parsed.
  boost::json::value json(Arguments arguments, int expected_code = 0) {
    const auto words = arguments;
    arguments.push_back("--json");
    const auto finished = tool(arguments);
    EXPECT_EQ(finished.exit_code, expected_code) << finished.out << finished.err;
    std::error_code broken;
    auto value = boost::json::parse(finished.out, broken);
    EXPECT_FALSE(broken) << broken.message() << ": " << finished.out;
    EXPECT_EQ(broken ? "" : problem_in_answer_of(words, value), "") << finished.out;
    return value;
  }

  /// Empty: for commands that only look, and make none.
  void make_store() { ASSERT_EQ(tool({"migrate", "up"}).exit_code, 0); }

  /// Takes the lock and gives its token.
  std::string acquired(const std::string& name, const Arguments& more = {}) {
    Arguments arguments = {"lock", "acquire", name, "-q"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto finished = tool(arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return token_in(finished.out);
  }

  /// Of what -q prints: the identity, a space, the token.
  static std::string token_in(const std::string& line) {
    const auto space = line.rfind(' ');
    return line.substr(space + 1, line.rfind('\n') - space - 1);
  }

  [[nodiscard]] virtual std::string url() const { return "sqlite:" + file(); }
  [[nodiscard]] std::string file() const { return folder_.file("test.db"); }
  [[nodiscard]] const TempDir& folder() const { return folder_; }

 private:
  TempDir folder_;
};

/// The same on either database, by the real clock.
class StoreToolTest : public ToolTest, public testing::WithParamInterface<StoreKind> {
 protected:
  [[nodiscard]] std::string url() const override { return store_.url(); }

 private:
  TestStore store_{GetParam(), {.real_time = true}};
};

inline testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no \"" << part << "\" in:\n" << text;
}

}  // namespace leasehold::support
