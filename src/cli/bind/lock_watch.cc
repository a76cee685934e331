// leasehold lock watch: print a line whenever a lock changes hands.
#include <fmt/format.h>
#include <memory>
#include <stop_token>

#include "base/text.h"
#include "cli/command.h"
#include "cli/print/lock_text.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/signals.h"
#include "model/bounds.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

/// The number of earlier events to show.
constexpr int events_before = 10;

struct LockWatchOptions {
  std::string name;
  std::string until;  ///< free, held; empty: for ever
  Duration timeout = Duration::max();
  bool events = false;
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
    const auto begun = BootClock::now();
    const auto store = context_.open_or_make_store();
    if (!store) return report(context_, store.error());
    const StopSignals signals(stop_);
    signals.set_alarm(begun + bounded_wait(options_.timeout));
    const auto watched =
        store->locks().watch(options_.name, stop_.get_token(), [this](const Result<LockInfo>& lock) { see(lock); });
    if (!watched) return report(context_, watched.error());
    // main reports failed output.
    if (options_.until.empty() || reached_ || !printed_well()) return exit_code::ok;
    if (signals.first() != 0) return exit_code_after(signals.first());
    return report(context_, {.code = Errc::busy,
                             .message = fmt::format("lock {} is not {}: the wait ran out",
                                                    leasehold::quoted(options_.name), options_.until)});
  }

 private:
  void see(const Result<LockInfo>& lock) {
    show(lock);
    reached_ = reached_ || is_wanted(lock);
    if (reached_ || !printed_well()) stop_.request_stop();
  }

  void show(const Result<LockInfo>& lock) const {
    if (!lock && lock.error().code == Errc::not_found) return show_never_held();
    if (context_.json) return print_line(lock ? model::to_json(*lock) : model::to_json(lock.error()));
    if (lock) return print_line(line_of(*lock));
    say("leasehold: {}; trying again", printable(lock.error().message));
  }

  void show_never_held() const {
    if (context_.json) return print_line(model::json_object({{"name", options_.name}, {"state", "free"}}));
    print("{}  {}  never held before", local_time(wall_clock(), wall_clock()), coloured(LeaseState::free));
  }

  [[nodiscard]] bool is_wanted(const Result<LockInfo>& lock) const {
    if (options_.until == "held") return lock && lock->state == LeaseState::running;
    if (options_.until != "free") return false;
    // A request would get it now.
    return lock ? lock->state != LeaseState::running && !lock->delayed : lock.error().code == Errc::not_found;
  }

  const Context& context_;
  const LockWatchOptions& options_;
  std::stop_source stop_;
  bool reached_ = false;
};

int watch(const Context& context, const LockWatchOptions& options) {
  if (!options.events) return Watcher(context, options).run();
  const auto store = context.open_or_make_store();
  if (!store) return report(context, store.error());
  return follow_events(context, *store, {.key = options.name, .max = events_before});
}

}  // namespace

void add_lock_watch(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "watch", "Show the holder of a lock, and every change of it, until interrupted",
                  {"leasehold lock watch deploy",
                   "leasehold lock watch deploy --json | jq -r .holder.name     # one object per line",
                   "leasehold lock watch deploy --until free --wait 10m && ./after-the-deploy"});
  auto options = std::make_shared<LockWatchOptions>();
  add_lock_name(*command, options->name);
  auto* until = add_choice(*command, "--until", options->until, {"free", "held"},
                           "Exit with 0 when the lock can be acquired, or when it is held");
  add_duration(*command, "--wait", options->timeout, "With --until: exit with 75 after this time")->needs(until);
  command
      ->add_flag("--events", options->events,
                 "Show every event of the lock, also of brief holders; begins with the latest 10")
      ->excludes(until);
  set_action(*command, context, [&context, options] { return watch(context, *options); });
}

}  // namespace leasehold::cli
