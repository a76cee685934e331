#include "cli/work_command.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/text.h"
#include "cli/print.h"
#include "cli/work_progress.h"
#include "cli/work_streams.h"
#include "cli/wrapped_command.h"
#include "run/boot_timer.h"
#include "run/guarded_command.h"

namespace leasehold::cli {
namespace {

using run::Ending;

/// A command that says "not now" (EX_TEMPFAIL) is asked again after this.
constexpr int retry_later_code = 75;
constexpr Duration retry_later_delay = std::chrono::seconds(5);
/// Between SIGTERM and SIGKILL when somebody is in a hurry.
constexpr Duration hurried_grace = std::chrono::seconds(1);

/// A descriptor that stop tokens make readable.
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

std::vector<std::string> environment_for(const Job& job, BootTime trusted_until, const std::string& url) {
  const auto expires_at = wall_clock() + (trusted_until - BootClock::now());
  return {
      fmt::format("LEASEHOLD_JOB_ID={}", job.id),
      fmt::format("LEASEHOLD_TOKEN={}", job.token.value),
      fmt::format("LEASEHOLD_ATTEMPT={}", job.attempt),
      fmt::format("LEASEHOLD_QUEUE={}", job.queue),
      fmt::format("LEASEHOLD_EXPIRES_AT={}", to_string(expires_at)),
      fmt::format("LEASEHOLD_DB={}", url),
  };
}

std::string describe_exit(const Ending& ending) {
  if (ending.signal == 0) return fmt::format("exit code {}", ending.exit_code);
  const char* name = sigabbrev_np(ending.signal);
  return name != nullptr ? fmt::format("killed by SIG{}", name) : fmt::format("killed by signal {}", ending.signal);
}

/// The way it ended, and the last that it said.
std::string error_text(const std::string& how, std::string_view last_words) {
  while (!last_words.empty() && last_words.back() == '\n') last_words.remove_suffix(1);
  return last_words.empty() ? how : fmt::format("{}: {}", how, last_words);
}

}  // namespace

/// The loop around one command.
class CommandHandler::Attempt {
 public:
  Attempt(const WorkSettings& settings, WorkStops& stops, const JobContext& context, run::GuardedCommand& command,
          WorkStreams& streams, BootTime told_until)
      : settings_(settings),
        context_(context),
        command_(command),
        streams_(streams),
        told_until_(told_until),
        commands_(stops.commands.get_token()),
        at_once_(stops.at_once.get_token()),
        job_stopped_(context.stop_token(), Ring{bell_}),
        commands_stopped_(commands_, Ring{bell_}),
        stopped_at_once_(at_once_, Ring{bell_}) {}

  Ending run() {
    for (;;) {
      pass_on_stops();
      pass_on_extension();
      sleep_until_something();
      streams_.serve();
      if (const auto ending = command_.take_messages()) {
        streams_.finish();
        return *ending;
      }
    }
  }

 private:
  struct Ring {
    const Bell& bell;
    void operator()() const { bell.ring(); }
  };
  enum class Urgency { none, usual, at_once };

  void pass_on_stops() {
    bell_.clear();
    const bool usual = context_.stop_requested() || commands_.stop_requested();
    const auto wanted = at_once_.stop_requested() ? Urgency::at_once : usual ? Urgency::usual : Urgency::none;
    if (wanted <= told_) return;
    told_ = wanted;
    command_.stop(wanted == Urgency::at_once ? std::min(hurried_grace, settings_.grace) : settings_.grace);
  }

  void pass_on_extension() {
    if (context_.trusted_until() <= told_until_) return;
    told_until_ = context_.trusted_until();
    command_.extend(told_until_);
  }

  /// Heartbeats are looked for in time, but not more often than they come; when one is late, again and again.
  [[nodiscard]] BootTime next_look() const {
    const auto in_time = told_until_ - settings_.grace - settings_.ttl / 6;
    return std::max(in_time, BootClock::now() + settings_.ttl / 60);
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

  const WorkSettings& settings_;
  const JobContext& context_;
  run::GuardedCommand& command_;
  WorkStreams& streams_;
  BootTime told_until_;
  Urgency told_ = Urgency::none;
  const run::BootTimer timer_;
  std::vector<pollfd> watched_;
  const Bell bell_;
  const std::stop_token commands_;
  const std::stop_token at_once_;
  const std::stop_callback<Ring> job_stopped_;
  const std::stop_callback<Ring> commands_stopped_;
  const std::stop_callback<Ring> stopped_at_once_;
};

CommandHandler::CommandHandler(WorkSettings settings, const run::Warden& warden, WorkStops& stops)
    : settings_(std::move(settings)), warden_(warden), stops_(stops) {}

Verdict CommandHandler::run(const Job& job, JobContext& context) {
  if (fatal_code_ != 0) return Verdict::release();
  auto streams = WorkStreams::open(job.payload, settings_.keep_output, [&context](std::string_view line) {
    context.progress(parse_progress_line(line).view());
  });
  if (!streams) return Verdict::fail(streams.error().message);
  const auto trusted_until = context.trusted_until();
  auto command = run::GuardedCommand::start(warden_, streams->take_theirs(),
                                            environment_for(job, trusted_until, settings_.url), trusted_until);
  if (!command) return give_up(own_failure, command.error().message);
  const auto ending = Attempt(settings_, stops_, context, *command, *streams, trusted_until).run();
  if (!command->remark().empty()) say("leasehold: job {}: {}", job.id, command->remark());
  return verdict_on(job, ending, *streams);
}

Verdict CommandHandler::verdict_on(const Job& job, const Ending& ending, const WorkStreams& streams) {
  if (ending.kind == Ending::Kind::start_failed) {
    return give_up(ending.exit_code,
                   fmt::format("cannot run {}: {}", leasehold::quoted(settings_.program), std::strerror(ending.error)));
  }
  // Cancelled, drained or lost: the store knows which, and what to make of it.
  if (ending.kind == Ending::Kind::lease_lost) return Verdict::release();
  if (ending.kind == Ending::Kind::guardian_died) {
    say("leasehold: job {}: the guardian of its command was killed; ended everything it had started", job.id);
    return Verdict::fail("the guardian of the command was killed");
  }
  if (ending.exit_code == retry_later_code) return Verdict::snooze(retry_later_delay);
  if (ending.exit_code != 0) {
    say("leasehold: job {} failed: {}", job.id, describe_exit(ending));
    return Verdict::fail(error_text(describe_exit(ending), streams.error_tail()));
  }
  if (streams.output_was_cut()) say("leasehold: job {}: its result is cut after 1 MiB", job.id);
  return Verdict::complete(streams.output());
}

/// What is wrong is wrong for every job: none of them is to be charged for it.
Verdict CommandHandler::give_up(int code, const std::string& why) {
  int nothing_yet = 0;
  if (fatal_code_.compare_exchange_strong(nothing_yet, code)) say("leasehold: {}", why);
  stops_.claiming.request_stop();
  stops_.commands.request_stop();
  return Verdict::release();
}

}  // namespace leasehold::cli
