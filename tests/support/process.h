// Real processes for tests: started, talked to, stopped and killed, never left behind.
//
//   auto child = Process::self("holder", {{"URL", url}});   // this executable again, as a role
//   ASSERT_EQ(child.read_line(5s), "holding");
//   child.signal(SIGKILL);
//
// A role is a function of the test executable that runs instead of the tests:
//
//   LEASEHOLD_ROLE(holder) { ... return 0; }
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "leasehold/time.h"

namespace leasehold::support {

using Arguments = std::vector<std::string>;
using Environment = std::map<std::string, std::string>;

/// How a process ended, and everything it wrote.
struct Finished {
  int exit_code = -1;  ///< -1: it did not exit by itself
  int signal = 0;      ///< what killed it; 0: nothing did
  bool timed_out = false;
  std::string out;
  std::string err;
};

class Process {
 public:
  /// Starts `argv`; `env` is added to this process' own environment, an empty value removes a name.
  /// Throws std::runtime_error when it cannot be started.
  static Process start(const Arguments& argv, const Environment& env = {});
  /// This executable again, as a role.
  static Process self(const std::string& role, const Environment& env = {});

  Process(Process&&) noexcept;
  Process& operator=(Process&&) = delete;
  /// Kills and reaps what still runs.
  ~Process();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// The next line of its standard output; nothing when it ended or the time ran out.
  std::optional<std::string> read_line(Duration timeout);
  void write(const std::string& text);
  void close_input();
  void signal(int number) const;
  /// Collects the rest of its output until it ends. After `timeout` it is killed.
  Finished finish(Duration timeout);

 private:
  Process() = default;
  bool pump(BootTime until);
  void close_pipes();

  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::string out_text_;
  std::string err_text_;
};

/// Starts, feeds and finishes in one go.
Finished run(const Arguments& argv, const Environment& env = {}, const std::string& input = {},
             Duration timeout = std::chrono::seconds(60));

/// For roles and tests: the value of an environment variable, or empty.
std::string env(const std::string& name);

using Role = std::function<int()>;
bool add_role(const std::string& name, Role role);
/// Runs the role this process was started for; nothing when it was started to test.
std::optional<int> run_role();

/// Asks again, a few milliseconds apart, until `condition` holds. False when the time ran out.
bool eventually(const std::function<bool()>& condition, Duration timeout = std::chrono::seconds(10));

}  // namespace leasehold::support

#define LEASEHOLD_ROLE(name)                                                                                 \
  static int role_##name();                                                                                  \
  [[maybe_unused]] static const bool role_added_##name = ::leasehold::support::add_role(#name, role_##name); \
  static int role_##name()
