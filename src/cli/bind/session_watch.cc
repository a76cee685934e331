// leasehold session watch, which help does not show: the heartbeater that `session open --watch-pid` leaves behind.
//
// It watches one process through a descriptor that stays bound to that process, even if its pid is reused, and ends
// with it. It opens the store for every heartbeat and closes it again: a heartbeat every minute or two is not worth a
// connection. Ten thousand of these processes would be ten thousand connections to one PostgreSQL; so they need one or
// two at a time.
#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <random>

#include "base/process.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/run/session_heartbeater.h"
#include "run/signals.h"
#include "run/supervisor.h"

namespace leasehold::cli {
namespace {

using run::UniqueFd;

struct SessionWatchOptions {
  HeartbeaterOrders orders;
  int report = STDERR_FILENO;
};

/// A descriptor that is readable when the process has ended. The identity of the process must be checked *after* it is
/// open: from then on no other process can be meant.
Result<UniqueFd> watch_process(std::int64_t pid, std::int64_t process_start) {
  UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0U)));
  const bool gone = !process && errno == ESRCH;
  if (!process && !gone) {
    return Error{.code = Errc::internal,
                 .message = fmt::format("cannot watch process {}: {}", pid, std::strerror(errno))};
  }
  const auto found = gone ? Liveness::gone : look_for_process(pid, process_start);
  if (found == Liveness::gone) {
    return Error{.code = Errc::not_found, .message = fmt::format("process {} has ended", pid)};
  }
  if (found == Liveness::cannot_tell) {
    return Error{.code = Errc::not_found, .message = fmt::format("cannot identify process {} in /proc", pid)};
  }
  return process;
}

class Heartbeater {
 public:
  Heartbeater(const Context& context, const SessionWatchOptions& options)
      : context_(context), orders_(options.orders), report_(options.report) {}

  int run() {
    auto process = watch_process(orders_.pid, orders_.process_start);
    if (!process) return refuse(process.error());
    const auto first = heartbeat();
    if (!first) return refuse(first.error());
    if (!send(heartbeater_ready)) return close("its caller is gone");
    return keep_alive(*process);
  }

 private:
  int keep_alive(const UniqueFd& process) {
    for (;;) {
      if (ended_before(process, std::min(next_, orders_.until))) {
        return close(fmt::format("process {} ended", orders_.pid));
      }
      if (BootClock::now() >= orders_.until) return close("it reached its maximum age");
      const auto extended = heartbeat();
      if (!extended && ends_lease(extended.error().code)) return end_after(extended.error());
    }
  }

  /// A heartbeat that the store saw too late leaves the session stale, with its claims: it is closed, so that the
  /// reason is on record. If it was ended before, that reason stays: the store refuses this close.
  [[nodiscard]] int end_after(const Error& refused) const {
    if (refused.lost_reason != LostReason::expired) return exit_code::lost;
    return close(BootClock::now() >= orders_.until ? "it reached its maximum age" : "no heartbeat came in time");
  }

  [[nodiscard]] Result<Sessions> sessions() const {
    const auto store = context_.open_store({.migrate = MigrateOnOpen::no});
    if (!store) return store.error();
    return store->sessions();
  }

  Result<Grant> heartbeat() {
    const auto open = sessions();
    auto extended = open ? open->heartbeat(orders_.session, orders_.token) : Result<Grant>(open.error());
    next_ = BootClock::now() + (extended ? until_next_heartbeat() : orders_.ttl / 10);
    return extended;
  }

  /// At most a third of the ttl, randomly shortened, so that heartbeaters that started together spread out.
  Duration until_next_heartbeat() {
    return std::uniform_int_distribution(orders_.ttl.count() / 4, orders_.ttl.count() / 3)(random_) * Duration(1);
  }

  [[nodiscard]] bool ended_before(const UniqueFd& process, BootTime until) const {
    while (BootClock::now() < until) {
      timer_.arm(until);
      std::array<pollfd, 2> watched{pollfd{.fd = process.get(), .events = POLLIN, .revents = 0},
                                    pollfd{.fd = timer_.fd(), .events = POLLIN, .revents = 0}};
      if (::poll(watched.data(), watched.size(), -1) > 0 && watched[0].revents != 0) return true;
    }
    return false;
  }

  /// Retries until the session would go stale by itself.
  [[nodiscard]] int close(const std::string& reason) const {
    const auto until = BootClock::now() + orders_.ttl;
    for (;;) {
      const auto open = sessions();
      const auto closed =
          open ? open->close(orders_.session, orders_.token, reason) : Result<SessionClosed>(open.error());
      if (closed) return exit_code::ok;
      if (ends_lease(closed.error().code)) return exit_code::lost;
      const auto again = BootClock::now() + std::min<Duration>(orders_.ttl / 10, std::chrono::seconds(5));
      if (again >= until) return exit_code::unreachable;
      timer_.arm(again);
      pollfd timer{.fd = timer_.fd(), .events = POLLIN, .revents = 0};
      ::poll(&timer, 1, -1);
    }
  }

  [[nodiscard]] int refuse(const Error& why) {
    static_cast<void>(send(why.message));
    return exit_code::failure;
  }

  /// The one word that the parent waits for. False: the parent is gone.
  bool send(std::string_view word) {
    const auto written = ::write(report_, word.data(), word.size());
    ::close(report_);
    return written == static_cast<ssize_t>(word.size());
  }

  const Context& context_;
  const HeartbeaterOrders& orders_;
  const int report_;
  const run::BootTimer timer_;
  std::mt19937_64 random_{std::random_device{}()};
  BootTime next_{};
};

int watch(const Context& context, SessionWatchOptions& options) {
  // The terminal that started it may go away, and so may the parent.
  std::signal(SIGHUP, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  const auto token = read_heartbeater_token();
  if (!token) {
    say("leasehold: `session watch` is started by `session open --watch-pid`, which passes the token");
    return exit_code::usage;
  }
  options.orders.token = *token;
  return Heartbeater(context, options).run();
}

}  // namespace

void add_session_watch(CLI::App& parent, Context& context) {
  auto* command = parent.add_subcommand("watch", "The heartbeater of `session open --watch-pid`")->group("");
  auto options = std::make_shared<SessionWatchOptions>();
  auto& orders = options->orders;
  command->add_option("--session", orders.session)->required();
  command->add_option("--pid", orders.pid)->required();
  command->add_option("--process-start", orders.process_start)->required();
  add_duration(*command, "--ttl", orders.ttl, "")->required();
  command
      ->add_option_function<std::int64_t>("--until",
                                          [&orders](const std::int64_t& us) { orders.until = BootTime(Duration(us)); })
      ->required();
  command->add_option("--report", options->report);
  set_action(*command, context, [&context, options] { return watch(context, *options); });
}

}  // namespace leasehold::cli
