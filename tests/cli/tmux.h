// A real terminal for tests: tmux, with a server of its own that goes away with the object.
//
//   Tmux terminal({.columns = 80, .lines = 24});
//   terminal.type("leasehold top\n");
//   EXPECT_TRUE(terminal.shows("1 leases"));
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "support/process.h"
#include "support/temp_dir.h"

namespace leasehold::support {

class Tmux {
 public:
  struct Size {
    int columns = 80;
    int lines = 24;
  };

  /// A shell without settings of anybody's, with the tool in front of PATH and further variables.
  Tmux(Size size, const Environment& variables) {
    Arguments start = {"new-session", "-d", "-x", std::to_string(size.columns), "-y", std::to_string(size.lines)};
    for (const auto& [name, value] : variables) {
      start.push_back("-e");
      start.push_back(name + "=" + value);
    }
    start.insert(start.end(), {"--", "env", "PS1=ready> ", "ENV=", "sh", "-i"});
    const auto started = tmux(start);
    EXPECT_EQ(started.exit_code, 0) << started.err;
    EXPECT_TRUE(shows("ready>"));
  }
  Tmux(const Tmux&) = delete;
  Tmux& operator=(const Tmux&) = delete;
  ~Tmux() { tmux({"kill-server"}); }

  /// As if a person typed it.
  void type(const std::string& text) { tmux({"send-keys", "-l", "--", text}); }
  /// A key by tmux's name for it: Enter, C-c, PageDown, Tab.
  void press(const std::string& key) { tmux({"send-keys", key}); }
  void resize(Size size) {
    tmux({"resize-window", "-x", std::to_string(size.columns), "-y", std::to_string(size.lines)});
  }

  /// The screen, as a person sees it.
  std::string screen() { return tmux({"capture-pane", "-p"}).out; }
  std::vector<std::string> lines() {
    std::vector<std::string> lines;
    std::istringstream text(screen());
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }
  /// The same with colours and attributes.
  std::string coloured_screen() { return tmux({"capture-pane", "-p", "-e"}).out; }

  /// A variable of tmux: alternate_on, cursor_flag, pane_current_command.
  std::string knows(const std::string& format) {
    const auto reported = tmux({"display-message", "-p", "#{" + format + "}"}).out;
    return reported.substr(0, reported.find('\n'));
  }

  testing::AssertionResult shows(const std::string& part) {
    return becomes("\"" + part + "\" is there", [&] { return screen().find(part) != std::string::npos; });
  }
  testing::AssertionResult shows_no(const std::string& part) {
    return becomes("\"" + part + "\" is gone", [&] { return screen().find(part) == std::string::npos; });
  }
  testing::AssertionResult becomes(const std::string& what, const std::function<bool()>& condition) {
    if (eventually(condition, std::chrono::seconds(20))) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "never: " << what << "\n" << screen();
  }

 private:
  Finished tmux(Arguments arguments) {
    arguments.insert(arguments.begin(), {"tmux", "-u", "-f", "/dev/null", "-S", folder_.file("tmux")});
    return run(arguments, {{"TMUX", ""}, {"TMUX_PANE", ""}, {"TERM", "xterm-256color"}});
  }

  TempDir folder_;
};

}  // namespace leasehold::support
