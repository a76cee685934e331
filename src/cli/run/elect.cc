// leasehold elect: runs a command while this candidate leads, term after term.
//
//   candidate --> elected --> the command runs --> it ends: resigns, and so do we
//       ^                          |
//       +---- leadership lost <----+    the command is ended before another candidate can lead
#include <fmt/format.h>
#include <algorithm>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/time_text.h"
#include "cli/bind/lock_options.h"
#include "cli/command.h"
#include "cli/print/live.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/run/command_runner.h"
#include "cli/run/command_stops.h"
#include "cli/run/wrapped_command.h"
#include "cli/run/wrapper_variables.h"
#include "cli/store_trouble.h"
#include "leasehold/election.h"
#include "model/bounds.h"
#include "model/json.h"
#include "run/warden.h"

namespace leasehold::cli {
namespace {

using run::Ending;

/// Between two attempts to reach the store.
constexpr Duration first_pause = std::chrono::milliseconds(500);
constexpr Duration longest_pause = std::chrono::seconds(10);

constexpr const char* elect_command_help =
    "After --: the program and its arguments; no shell is involved. The environment has LEASEHOLD_TERM, which "
    "grows with every leader, and LEASEHOLD_LOCK, _LOCK_TOKEN, _LOCK_DB, _INSTANCE, _TOKEN, _EXPIRES_AT and _DB. "
    "Whatever happens to this "
    "process, leasehold kills the command and all it started before another candidate can lead";

struct ElectOptions {
  std::string name;
  std::string holder;
  CampaignOptions campaign;
  Grace grace;
  bool once = false;
  int held_code = exit_code::held;
  std::string program;
  std::vector<std::string> command;
};

HeldText leadership_text() { return {.what = "leadership", .expiry = "ends by itself"}; }

class Candidate {
 public:
  Candidate(const Context& context, const ElectOptions& options, const run::Warden& warden, CommandStops& stops,
            const SteppedStop& stop)
      : context_(context),
        options_(options),
        stop_(stop),
        stop_requested_(stops.claiming.get_token()),
        holder_(holder_guarded_by(warden.process(), options.holder)),
        runner_({.program = options.command.front(),
                 .ttl = options.campaign.ttl,
                 .grace = options.grace.fitting(options.campaign.ttl)},
                warden, stops) {}

  int run() {
    for (;;) {
      auto leadership = campaign();
      if (!leadership && stop_requested_.stop_requested()) return exit_code_after(stop_.signal());
      if (!leadership) return report_failure(context_, leadership.error(), options_.held_code);
      if (const auto code = lead(*leadership)) return *code;
    }
  }

 private:
  /// Until elected, stopped, or out of time; as long as the store may come back.
  Result<Leadership> campaign() {
    const auto until = BootClock::now() + std::min<Duration>(options_.campaign.wait, std::chrono::years(100));
    announce("candidate");
    StoreTrouble trouble;
    for (auto pause = first_pause;; pause = std::min(pause * 2, longest_pause)) {
      auto leadership = campaign_once(until);
      const bool over = stop_requested_.stop_requested() || BootClock::now() + pause >= until;
      if (leadership || over || !may_come_back(leadership.error())) return leadership;
      trouble.report(leadership.error());
      sleep_until(BootClock::now() + pause, stop_requested_);
    }
  }

  Result<Leadership> campaign_once(BootTime until) {
    if (!store_) {
      auto opened = context_.open_or_make_store();
      if (!opened) return std::move(opened).error();
      store_ = std::move(*opened);
    }
    const auto locks = store_->locks();
    if (auto checked = check_reentry(locks, {options_.name}, std::nullopt); !checked) return std::move(checked).error();
    auto terms = options_.campaign;
    terms.wait = std::max(until - BootClock::now(), Duration(0));
    // A new instance every time: a lease left from an earlier term, or from an election without an answer, is waited
    // for like any other leader's.
    Call call{.holder = holder_, .stop = stop_requested_};
    call.holder->instance += fmt::format("/elect-{}", ++campaigns_);
    return say_while_waiting(
        wants_wait_line(context_, terms.wait), [&] { return waits_for_locks(locks, {options_.name}); },
        [&] { return Election(locks, options_.name).campaign(terms, call); });
  }

  /// The exit code; nothing: leadership was lost, and this is a candidate again.
  std::optional<int> lead(Leadership& leadership) {
    announce("elected", &leadership);
    auto environment = lock_environment(leadership.grant(), {options_.name}, *context_.store_url());
    environment.push_back(fmt::format("LEASEHOLD_TERM={}", leadership.term().value));
    auto streams = CommandStreams::inherited();
    const auto ending = runner_.run({.name = "the leader's command",
                                     .environment = std::move(environment),
                                     .stop = leadership.stop_token(),
                                     .trusted_until = [&leadership] { return leadership.grant().trusted_until; }},
                                    streams);
    if (!ending) return resign(leadership, runner_.fatal_code());
    if (ending->out_of_resources()) return stand_again(leadership);
    if (stop_.signal() != 0) return resign(leadership, exit_code_after(stop_.signal()));
    if (ending->kind == Ending::Kind::lease_lost) return step_down(leadership);
    return resign(leadership, ending->kind == Ending::Kind::exited ? ending->exit_code : own_failure);
  }

  [[nodiscard]] int resign(Leadership& leadership, int code) const {
    const auto resigned = leadership.resign();
    if (resigned) {
      announce("resigned", &leadership);
      return code;
    }
    if (resigned.error().code == Errc::lost) {
      leadership_text().report_late_loss();
      return report(context_, resigned.error());
    }
    leadership_text().report_unreported_end(resigned.error(), leadership.grant().expires_at);
    return code;
  }

  /// Out of processes or descriptors: let another candidate lead, and stand again in a while.
  [[nodiscard]] std::optional<int> stand_again(Leadership& leadership) const {
    const int code = resign(leadership, own_failure);
    if (options_.once) return code;
    sleep_until(BootClock::now() + retry_later_delay, stop_requested_);
    if (stop_requested_.stop_requested()) return exit_code_after(stop_.signal());
    return std::nullopt;
  }

  [[nodiscard]] std::optional<int> step_down(Leadership& leadership) const {
    const auto why = leadership.lost();
    leadership_text().report_forced_end(why);
    if (why) say("leasehold: {}", printable(why->message));
    // Nothing of the command is left: if the store is reachable, the next leader need not wait for our lease to expire.
    static_cast<void>(leadership.resign());
    announce("lost", &leadership);
    return options_.once ? std::optional(exit_code::lost) : std::nullopt;
  }

  /// Reports each change of role: with --json a line on stdout.
  void announce(std::string_view role, const Leadership* leadership = nullptr) const {
    const auto at = to_string(wall_clock());
    if (context_.json && leadership != nullptr) {
      return print_line(model::json_object(
          {{"event", role}, {"name", options_.name}, {"term", leadership->term().value}, {"at", at}}));
    }
    if (context_.json) return print_line(model::json_object({{"event", role}, {"name", options_.name}, {"at", at}}));
    say("leasehold: {}  {}{}", printable(options_.name), role,
        leadership != nullptr ? fmt::format("  term {}", leadership->term().value) : "");
  }

  const Context& context_;
  const ElectOptions& options_;
  const SteppedStop& stop_;
  const std::stop_token stop_requested_;
  const Holder holder_;
  CommandRunner runner_;
  std::optional<Store> store_;
  int campaigns_ = 0;
};

int elect(const Context& context, const ElectOptions& options) {
  if (const auto checked = check_ttl(options.campaign.ttl); !checked) return report(context, checked.error());
  // First of all, before there is a thread or a connection that a fork would copy.
  const auto warden = run::Warden::fork(options.command);
  if (!warden) return report_failure(context, warden.error(), options.held_code);
  CommandStops stops;
  const SteppedStop stop(stops, Duration(0));
  return Candidate(context, options, **warden, stops, stop).run();
}

}  // namespace

void add_elect(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "elect",
                  "Become the leader, run a command while leading, and stand again when leadership is lost",
                  {"leasehold elect billing -- ./bill-everybody",
                   "leasehold elect billing --ttl 10s --lock-delay 5s -- ./bill-everybody",
                   "leasehold elect billing --once --wait 0s -- ./bill-everybody    # exit code 75: another leads",
                   "leasehold lock watch billing    # who leads"});
  auto options = std::make_shared<ElectOptions>();
  add_lock_name(*command, options->name);
  // The parser knows only the program; prefix_command leaves the words after it unchanged.
  command->prefix_command();
  command->add_option("COMMAND", options->program, elect_command_help)->type_name("");
  add_duration(
      *command, "--ttl", options->campaign.ttl,
      fmt::format("How long the lease lasts without a heartbeat (default {})", format_duration(options->campaign.ttl)));
  add_duration(*command, "--wait", options->campaign.wait,
               "Stand as a candidate up to this long each time (default: forever)");
  add_lock_delay(*command, options->campaign.lock_delay);
  add_grace(*command, options->grace, "at most a third of the ttl");
  add_holder(*command, options->holder);
  command->add_flag("--once", options->once, "Lead for one term; exit with 76 when leadership is lost");
  add_conflict_exit_code(*command, options->held_code);
  command->callback([&context, options, command] {
    if (options->program.empty()) {
      throw CLI::ValidationError("COMMAND", "the command is missing: write leasehold elect NAME -- COMMAND...");
    }
    options->command = words_after_mark(
        *command, context, {"NAME", options->name, "leasehold elect NAME -- COMMAND..."}, options->program);
    context.action = [&context, options] { return elect(context, *options); };
  });
}

}  // namespace leasehold::cli
