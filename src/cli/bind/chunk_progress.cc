// leasehold chunk progress: the progress of a sync; with --watch, continuously.
#include <algorithm>
#include <deque>
#include <memory>

#include "base/clock.h"
#include "cli/bind/chunk_options.h"
#include "cli/command.h"
#include "cli/print/chunk_text.h"
#include "cli/print/live.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/signals.h"
#include "cli/store_trouble.h"

namespace leasehold::cli {
namespace {

/// Changes wake it, but looking at every one of them would burden a busy store.
constexpr Duration shortest_pause = std::chrono::milliseconds(200);
constexpr Duration longest_pause = std::chrono::milliseconds(800);
constexpr std::size_t most_news = 5;

struct ChunkProgressOptions {
  std::string set;
  bool watch = false;
};

bool is_final(const ChunkSetInfo& set) {
  return set.state == ChunkSetState::complete || set.state == ChunkSetState::partial;
}

/// The output for pictures: objects for programs, a screen for people, lines for logs.
class Watcher {
 public:
  Watcher(const Context& context, const Store& store, const std::string& set)
      : context_(context), store_(store), set_(set), on_screen_(!context.json && terminal_width().has_value()) {}

  /// Runs until the set is final, or until stopped.
  int run() {
    const StopSignals signals(stop_);
    while (!stop_.stop_requested() && printed_well()) {
      const auto details = read_details(store_.chunks(), set_);
      if (!details && !passes(details.error())) return report(context_, details.error());
      if (details) {
        trouble_.end();
        show(*details);
        if (is_final(details->set)) return end_code(details->set);
      }
      sleep_until(BootClock::now() + shortest_pause, stop_.get_token());
      store_.wait_for_change(longest_pause);
    }
    // Without a signal, output has failed, which main reports.
    return signals.first() != 0 ? exit_code_after(signals.first()) : exit_code::ok;
  }

 private:
  static int end_code(const ChunkSetInfo& set) {
    return set.state == ChunkSetState::complete ? exit_code::ok : exit_code::failure;
  }

  void show(const ChunkSetDetails& details) {
    recent_.add(details.set);
    const auto at = local_time(details.set.store_now, details.set.store_now);
    auto news = news_.since_last(details);
    for (auto& line : news) line = fmt::format("{}  {}", at, line);
    if (on_screen_) return draw(details, news);
    if (!context_.json) {
      for (const auto& line : news) print_line(line);
    }
    if (std::exchange(last_counts_, counts_of(details.set)) == counts_of(details.set)) return;
    print_line(context_.json ? model::to_json(details)
                             : fmt::format("{}  {}", at, in_one_line(details, recent_.pace())));
  }

  void draw(const ChunkSetDetails& details, const std::vector<std::string>& news) {
    latest_.insert(latest_.end(), news.begin(), news.end());
    while (latest_.size() > most_news) latest_.pop_front();
    auto lines = drawn(details, recent_.pace(), LiveScreen::height() - std::min(most_news + 1, LiveScreen::height()));
    if (!latest_.empty()) lines.emplace_back();
    for (const auto& line : latest_) lines.push_back(coloured(Tone::faint, line));
    screen_.show(lines);
  }

  /// All counts whose change is worth a line.
  static std::vector<std::int64_t> counts_of(const ChunkSetInfo& set) {
    return {set.total,     set.available, set.deferred,  set.running, set.expired,
            set.completed, set.skipped,   set.exhausted, set.rows,    set.attempts};
  }

  bool passes(const Error& error) {
    screen_.leave();
    return trouble_.passes(error, stop_.get_token());
  }

  const Context& context_;
  const Store& store_;
  const std::string& set_;
  const bool on_screen_;
  LiveScreen screen_;
  RecentPace recent_;
  ChunkNews news_;
  std::deque<std::string> latest_;
  std::vector<std::int64_t> last_counts_;
  StoreTrouble trouble_;
  const std::stop_source stop_;
};

int show_once(const Context& context, const Store& store, const std::string& set) {
  const auto details = read_details(store.chunks(), set);
  if (!details) return report(context, details.error());
  if (context.json) {
    print_line(model::to_json(*details));
    return exit_code::ok;
  }
  constexpr std::size_t plenty = 100;
  for (const auto& line : drawn(*details, pace_since_start(details->set), plenty)) print_line(line);
  return exit_code::ok;
}

int progress(const Context& context, const ChunkProgressOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  if (!options.watch) return show_once(context, *store, options.set);
  return Watcher(context, *store, options.set).run();
}

}  // namespace

void add_chunk_progress(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "progress", "Show the progress and pace of a set, and who loads what",
                  {"leasehold chunk progress orders",
                   "leasehold chunk progress orders --watch    # until it is final: exit code 0 complete, 1 partial",
                   "leasehold chunk progress orders --json | jq '.held_chunks[] | {key, holder, rows, cursor}'"});
  auto options = std::make_shared<ChunkProgressOptions>();
  add_set_name(*command, options->set);
  command->add_flag("-w,--watch", options->watch,
                    "Watch until the set is final: redrawn in place on a terminal, otherwise a line per change");
  set_action(*command, context, [&context, options] { return progress(context, *options); });
}

}  // namespace leasehold::cli
