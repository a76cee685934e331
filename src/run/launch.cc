#include "run/launch.h"

#include <fcntl.h>
#include <sys/prctl.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "run/signals.h"

namespace leasehold::run {
namespace {

/// The first descriptor that is not a target of a stream.
constexpr int first_free = 4;

/// Runs in the child. Our own descriptors are closed on exec; 0 to 3 are not.
void put_streams(const Streams& streams) {
  const std::array ours{&streams.in, &streams.out, &streams.err, &streams.progress};
  // The sources may themselves be 0 to 3: first move them out of the way.
  std::array<int, ours.size()> safe{};
  for (std::size_t i = 0; i < ours.size(); ++i) {
    safe[i] = *ours[i] ? ::fcntl(ours[i]->get(), F_DUPFD_CLOEXEC, first_free) : -1;
  }
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (safe[i] >= 0) ::dup2(safe[i], static_cast<int>(i));
  }
}

[[noreturn]] void become(const Launch& what, const DeafToSignals& signals, pid_t parent, int report) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // If the parent died before the line above, no process would guard the command.
  if (::getppid() != parent) ::_exit(1);
  if (what.foreground) give_foreground(::getpid());
  const int safe_report = ::fcntl(report, F_DUPFD_CLOEXEC, first_free);
  put_streams(what.streams);
  auto environment = what.environment;
  for (auto& variable : environment) ::putenv(variable.data());
  auto arguments = what.argv;
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  signals.restore();
  ::execvp(argv[0], argv.data());
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(safe_report, &error, sizeof error);
  ::_exit(1);
}

}  // namespace

Launched launch(const Launch& what, const DeafToSignals& signals) {
  Launched result;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    result.error = errno;
    return result;
  }
  result.exec_report = UniqueFd(ends[0]);
  const UniqueFd report(ends[1]);
  const pid_t parent = ::getpid();
  result.pid = ::fork();
  if (result.pid == 0) become(what, signals, parent, report.get());
  if (result.pid < 0) result.error = errno;
  // Both sides do it, so that neither has to wait for the other before a signal is passed on.
  if (result.pid > 0) ::setpgid(result.pid, result.pid);
  return result;
}

}  // namespace leasehold::run
