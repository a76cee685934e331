#include "cli/run/command_runner.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/time_text.h"
#include "cli/print/print.h"
#include "cli/run/command_stops.h"
#include "cli/run/wrapped_command.h"
#include "run/guarded_command.h"
#include "run/supervisor.h"

namespace leasehold::cli {
namespace {

using run::Ending;

/// Between SIGTERM and SIGKILL on an urgent stop.
constexpr Duration hurried_grace = std::chrono::seconds(1);

/// If a command has not started for this long, the warden may have been stopped.
constexpr Duration start_patience = std::chrono::milliseconds(500);

/// As for env and nohup: the command exists but cannot be started.
constexpr int cannot_start_code = 126;

/// A descriptor that becomes readable on a stop request.
class Bell {
 public:
  Bell() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  void ring() const { eventfd_write(fd_.get(), 1); }
  void clear() const {
    eventfd_t ignored = 0;
    eventfd_read(fd_.get(), &ignored);
  }
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  run::UniqueFd fd_;
};

/// The descriptors that wake the loop around a command. Created before the command, because descriptors may run out.
struct Senses {
  Bell bell;
  run::BootTimer timer;

  [[nodiscard]] bool sound() const { return bell.fd() >= 0 && timer.fd() >= 0; }
};

/// The loop around one command.
class Watchman {
 public:
  Watchman(const CommandSettings& settings, const CommandWork& work, const CommandStops& stops, const Senses& senses,
           run::GuardedCommand& command, CommandStreams& streams, BootTime requested_until)
      : timer_(senses.timer),
        bell_(senses.bell),
        settings_(settings),
        work_(work),
        command_(command),
        streams_(streams),
        grace_(work.grace.value_or(settings.grace)),
        stop_at_(work.stop_at   ? *work.stop_at
                 : work.timeout ? BootClock::now() + *work.timeout
                                : BootTime::max()),
        requested_until_(requested_until),
        commands_(stops.commands.get_token()),
        at_once_(stops.at_once.get_token()),
        work_stopped_(work.stop, Ring{bell_}),
        commands_stopped_(commands_, Ring{bell_}),
        stopped_at_once_(at_once_, Ring{bell_}) {}

  Ending watch() {
    for (;;) {
      command_.wake_warden();
      pass_on_stops();
      pass_on_extension();
      sleep_until_something();
      streams_.serve();
      if (auto ending = command_.take_messages()) {
        streams_.finish();
        // The guardian may have been faster than this loop.
        ending->timed_out = timed_out_ || (ending->kind == Ending::Kind::lease_lost && !stop_requested() &&
                                           BootClock::now() >= stop_at_);
        return *ending;
      }
    }
  }

 private:
  struct Ring {
    const Bell& bell;
    void operator()() const { bell.ring(); }
  };
  enum class Urgency { none, normal, at_once };

  [[nodiscard]] bool stop_requested() const {
    return work_.stop.stop_requested() || commands_.stop_requested() || at_once_.stop_requested();
  }

  void pass_on_stops() {
    bell_.clear();
    const bool late = BootClock::now() >= stop_at_;
    timed_out_ |= late && requested_ == Urgency::none && !stop_requested();
    const bool normal = late || work_.stop.stop_requested() || commands_.stop_requested();
    const auto wanted = at_once_.stop_requested() ? Urgency::at_once : normal ? Urgency::normal : Urgency::none;
    if (wanted <= requested_) return;
    requested_ = wanted;
    command_.stop(wanted == Urgency::at_once ? std::min(hurried_grace, grace_) : grace_);
  }

  void pass_on_extension() {
    const auto until = work_.trusted_until();
    if (until <= requested_until_) return;
    requested_until_ = until;
    command_.extend(until);
  }

  /// In time for a heartbeat, but not more often than they come; if one is late, repeatedly.
  [[nodiscard]] BootTime next_look() const {
    const auto in_time = requested_until_ - grace_ - settings_.ttl / 6;
    auto look = std::max(in_time, BootClock::now() + settings_.ttl / 60);
    if (requested_ == Urgency::none) look = std::min(look, stop_at_);
    return command_.started() ? look : std::min(look, BootClock::now() + start_patience);
  }

  void sleep_until_something() {
    timer_.arm(next_look());
    watched_.clear();
    for (const int fd : {command_.fd(), bell_.fd(), timer_.fd()}) {
      watched_.push_back({.fd = fd, .events = POLLIN, .revents = 0});
    }
    streams_.add_to(watched_);
    ::poll(watched_.data(), watched_.size(), -1);
  }

  const run::BootTimer& timer_;
  const Bell& bell_;
  const CommandSettings& settings_;
  const CommandWork& work_;
  run::GuardedCommand& command_;
  CommandStreams& streams_;
  const Duration grace_;
  const BootTime stop_at_;
  bool timed_out_ = false;
  BootTime requested_until_;
  Urgency requested_ = Urgency::none;
  std::vector<pollfd> watched_;
  const std::stop_token commands_;
  const std::stop_token at_once_;
  const std::stop_callback<Ring> work_stopped_;
  const std::stop_callback<Ring> commands_stopped_;
  const std::stop_callback<Ring> stopped_at_once_;
};

}  // namespace

std::optional<Ending> CommandRunner::run(const CommandWork& work, CommandStreams& streams) {
  if (fatal_code_ != 0) return std::nullopt;
  const Ending not_now{.kind = Ending::Kind::start_failed, .exit_code = cannot_start_code, .error = EMFILE};
  const Senses senses;
  if (!senses.sound()) {
    report_shortage(work.name, std::strerror(EMFILE));
    return not_now;
  }
  const auto trusted_until = work.trusted_until();
  auto command = run::GuardedCommand::start(warden_, streams.take_theirs(),
                                            {.environment = work.environment,
                                             .trusted_until = trusted_until,
                                             .grace = work.grace.value_or(settings_.grace),
                                             .command = work.command});
  if (!command && command.error().code == Errc::invalid_argument) {
    return Ending{.kind = Ending::Kind::start_failed, .exit_code = cannot_start_code, .error = E2BIG};
  }
  if (!command && command.error().code == Errc::unavailable) {
    report_shortage(work.name, command.error().message);
    return not_now;
  }
  if (!command) {
    give_up(own_failure, command.error().message);
    return std::nullopt;
  }
  const auto ending = Watchman(settings_, work, stops_, senses, *command, streams, trusted_until).watch();
  if (!command->remark().empty()) say("leasehold: {}: {}", work.name, command->remark());
  if (ending.out_of_resources()) {
    report_shortage(work.name, std::strerror(ending.error));
    return ending;
  }
  shortage_reported_ = false;
  if (ending.kind == Ending::Kind::start_failed && work.command.empty()) {
    give_up(ending.exit_code, not_started_text(settings_.program, ending.error));
    return std::nullopt;
  }
  if (ending.kind == Ending::Kind::guardian_died) {
    say("leasehold: {}: {}", work.name, guardian_died_text);
  }
  return ending;
}

void CommandRunner::report_shortage(const std::string& name, std::string_view why) {
  if (shortage_reported_.exchange(true)) return;
  say("leasehold: {}: the command cannot be started now ({}): released, to be tried again later", name, why);
}

/// The problem affects every command, so no job or chunk is charged for it.
void CommandRunner::give_up(int code, const std::string& why) {
  int nothing_yet = 0;
  if (fatal_code_.compare_exchange_strong(nothing_yet, code)) say("leasehold: {}", why);
  stops_.claiming.request_stop();
  stops_.commands.request_stop();
}

Timestamp expires_at(BootTime trusted_until) { return wall_clock() + (trusted_until - BootClock::now()); }

void log_outcome(const Outcome& outcome) {
  const auto error = first_line(outcome.error);
  say("leasehold: {}: attempt {} {} after {}{}", outcome.what, outcome.attempt, outcome.came_to,
      format_duration(std::chrono::floor<std::chrono::milliseconds>(outcome.took)),
      error.empty() ? "" : ": " + printable(error));
}

std::string timed_out_text(Duration timeout) { return "timed out after " + format_limit(timeout); }

std::string describe_exit(const Ending& ending) {
  if (ending.kind == Ending::Kind::guardian_died) return "the guardian of the command was killed";
  if (ending.kind == Ending::Kind::start_failed) {
    return fmt::format("cannot be started: {}", std::strerror(ending.error));
  }
  if (ending.signal == 0) return fmt::format("exit code {}", ending.exit_code);
  const char* name = sigabbrev_np(ending.signal);
  return name != nullptr ? fmt::format("killed by SIG{}", name) : fmt::format("killed by signal {}", ending.signal);
}

std::string failure_text(const Ending& ending, std::string_view last_words) {
  const auto how = describe_exit(ending);
  while (!last_words.empty() && last_words.back() == '\n') last_words.remove_suffix(1);
  return last_words.empty() ? how : fmt::format("{}: {}", how, last_words);
}

}  // namespace leasehold::cli
