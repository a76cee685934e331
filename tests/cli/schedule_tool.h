// Schedules as the tests of the tool handle them.
#pragma once

#include <algorithm>

#include "cli/tool.h"

namespace leasehold::support {

class ScheduleToolTest : public StoreToolTest {
 protected:
  static constexpr Duration patience = std::chrono::seconds(60);

  /// One with a pause is due at once, unless the test says when.
  void set_schedule(const std::string& name, const Arguments& more = {"--every", "10m-15m"}) {
    Arguments arguments = {"schedule", "set", name};
    const auto says = [&](const char* word) { return std::find(more.begin(), more.end(), word) != more.end(); };
    if (says("--every") && !says("--next")) arguments.insert(arguments.end(), {"--next", "now"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto finished = tool(arguments);
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
  }

  /// Takes the occurrence that is due and gives its token.
  std::string acquired(const std::string& name, const Arguments& more = {}) {
    Arguments arguments = {"schedule", "acquire", name, "-q"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto finished = tool(arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return token_in(finished.out);
  }

  /// leasehold schedule run NAME OPTIONS... -- COMMAND...
  [[nodiscard]] static Arguments run_words(const std::string& name, const Arguments& options,
                                           const Arguments& command) {
    Arguments words = {"schedule", "run", name};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return words;
  }
  Finished run_schedule(const std::string& name, const Arguments& options, const Arguments& command) {
    return tool(run_words(name, options, command));
  }
  /// The tool with these words, left running.
  [[nodiscard]] Process start(Arguments words) const {
    words.insert(words.begin(), LEASEHOLD_TOOL);
    return Process::start(words, {{"LEASEHOLD_DB", url()}, {"TZ", "UTC"}});
  }

  boost::json::value shown(const std::string& name) { return json({"schedule", "show", name}); }
  std::string state_of(const std::string& name) { return std::string(shown(name).at("state").as_string()); }
  /// Its occurrences, the latest first.
  boost::json::array history(const std::string& name) {
    return json({"schedule", "history", name}).at("items").as_array();
  }
  /// "ok lost": the outcomes, the latest first.
  std::string outcomes(const std::string& name) {
    std::string all;
    for (const auto& run : history(name)) all += (all.empty() ? "" : " ") + std::string(run.at("outcome").as_string());
    return all;
  }
};

}  // namespace leasehold::support
