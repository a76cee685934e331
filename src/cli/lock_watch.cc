// leasehold lock watch: a line whenever a lock changes hands.
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

#include <array>
#include <csignal>
#include <memory>
#include <stop_token>
#include <thread>

#include "base/quiet_thread.h"
#include "cli/command.h"
#include "cli/event_follower.h"
#include "cli/lock_text.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/stop_signals.h"
#include "run/boot_timer.h"
#include "run/unique_fd.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

/// How many events are told of the time before.
constexpr int events_before = 10;

struct LockWatchOptions {
  std::string name;
  std::string until;  ///< free, held; empty: for ever
  Duration timeout{0};
  bool events = false;
};

/// Asks to stop when somebody interrupts this process, or when the time is over. Make it before any other thread, which
/// inherits that the signals are blocked.
class Interruption {
 public:
  Interruption(std::stop_source stop, Duration timeout) : stop_(std::move(stop)), end_(eventfd(0, EFD_CLOEXEC)) {
    sigset_t wanted;
    sigemptyset(&wanted);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&wanted, signal);
    pthread_sigmask(SIG_BLOCK, &wanted, nullptr);
    signals_ = run::UniqueFd(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
    if (timeout > Duration(0)) timer_.arm(BootClock::now() + timeout);
    thread_ = start_quiet_thread([this] { wait(); });
  }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption() {
    eventfd_write(end_.get(), 1);
    thread_.join();
  }

 private:
  void wait() {
    std::array<pollfd, 3> watched{pollfd{.fd = signals_.get(), .events = POLLIN, .revents = 0},
                                  pollfd{.fd = timer_.fd(), .events = POLLIN, .revents = 0},
                                  pollfd{.fd = end_.get(), .events = POLLIN, .revents = 0}};
    poll(watched.data(), watched.size(), -1);
    stop_.request_stop();
  }

  std::stop_source stop_;
  run::UniqueFd signals_;
  run::UniqueFd end_;
  const run::BootTimer timer_;
  std::thread thread_;
};

std::string line_of(const LockInfo& lock) {
  const auto when = local_time(lock.store_now, lock.store_now);
  if (!is_taken(lock)) {
    return fmt::format("{}  {}  {} {} {}", when, coloured(lock.state), lock.end_reason,
                       lock.end_reason == "released" ? "by" : "from", printable(lock.holder.name));
  }
  auto line = fmt::format("{}  {}  {}", when, coloured(lock.state), holders_text(lock));
  if (has_shares(lock)) line += fmt::format("  permits {}", permits_text(lock));
  line += fmt::format("  token {}", lock.token.value);
  if (lock.delayed && lock.free_at) line += "  " + delay_text(*lock.free_at, lock.store_now);
  return line;
}

class Watcher {
 public:
  Watcher(const Context& context, const LockWatchOptions& options) : context_(context), options_(options) {}

  int run() {
    const Interruption interruption(stop_, options_.timeout);
    const auto store = context_.open_store();
    if (!store) return report(context_, store.error());
    const auto watched =
        store->locks().watch(options_.name, stop_.get_token(), [this](const Result<LockInfo>& lock) { see(lock); });
    if (!watched) return report(context_, watched.error());
    return options_.until.empty() || reached_ ? exit_code::ok : exit_code::held;
  }

 private:
  void see(const Result<LockInfo>& lock) {
    tell(lock);
    if (!is_wanted(lock)) return;
    reached_ = true;
    stop_.request_stop();
  }

  void tell(const Result<LockInfo>& lock) const {
    if (context_.json) return print_line(lock ? wire::to_json(*lock) : wire::to_json(lock.error()));
    if (lock) return print_line(line_of(*lock));
    if (lock.error().code != Errc::not_found)
      return say("leasehold: {}; trying again", printable(lock.error().message));
    print("{}  {}  never held before", local_time(wall_clock(), wall_clock()), coloured(LeaseState::free));
  }

  [[nodiscard]] bool is_wanted(const Result<LockInfo>& lock) const {
    if (options_.until == "held") return lock && lock->state == LeaseState::running;
    if (options_.until != "free") return false;
    // Whoever asks for it now gets it.
    return lock ? lock->state != LeaseState::running && !lock->delayed : lock.error().code == Errc::not_found;
  }

  const Context& context_;
  const LockWatchOptions& options_;
  std::stop_source stop_;
  bool reached_ = false;
};

int watch(const Context& context, const LockWatchOptions& options) {
  if (!options.events) return Watcher(context, options).run();
  const auto store = context.open_store();
  if (!store) return report(context, store.error());
  stop_on_signals();
  return follow_events(context, *store, {.key = options.name, .limit = events_before});
}

}  // namespace

void add_lock_watch(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "watch",
                              "Tell who has a lock now, and again whenever it changes hands, until interrupted",
                              {"leasehold lock watch deploy",
                               "leasehold lock watch deploy --json | jq -r .holder.name     # one object per line",
                               "leasehold lock watch deploy --until free --timeout 10m && ./after-the-deploy"});
  auto options = std::make_shared<LockWatchOptions>();
  add_lock_name(*command, options->name);
  auto* until = add_choice(*command, "--until", options->until, {"free", "held"},
                           "Exit with 0 when anybody could take it, or when somebody has it");
  add_duration(*command, "--timeout", options->timeout, "With --until: exit with 75 after this time")->needs(until);
  command
      ->add_flag("--events", options->events,
                 "Every event of the lock, also of those who had it for a moment only; begins with the latest 10")
      ->excludes(until);
  set_action(*command, context, [&context, options] { return watch(context, *options); });
}

}  // namespace leasehold::cli
