// leasehold top: leases, queues, sessions and events, live in the terminal.
#include <poll.h>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/signals.h"
#include "cli/top/layout.h"
#include "cli/top/picture.h"
#include "cli/top/terminal.h"

namespace leasehold::cli {
namespace {

constexpr Duration shortest_every = std::chrono::milliseconds(100);
/// Live, enough to scroll through; once, as many as fit a screen.
constexpr int events_live = 200;
constexpr int events_once = 20;
/// How long the rest of a key may take over a slow line.
constexpr int patience_for_key_ms = 50;

/// After this time the store is reported as unreachable.
constexpr Duration patience_with_store = std::chrono::seconds(5);

struct TopOptions {
  Duration every = std::chrono::seconds(1);
  bool once = false;
};

/// Waits for a key, a signal or a new picture, and draws.
class TopLoop {
 public:
  TopLoop(const TopSignals& signals, const TopFeed& feed, std::string store)
      : signals_(signals), feed_(feed), news_(feed.take()), store_(std::move(store)) {}

  /// Returns the exit code.
  int run() {
    while (!view_.ended && signal_ == 0) {
      draw();
      wait();
    }
    // It only watches, so a stop is a success; only SIGQUIT shows in the exit code.
    return signal_ == SIGQUIT ? exit_code_after(signal_) : exit_code::ok;
  }

 private:
  void draw() {
    const auto size = TopTerminal::size();
    const TopHead head{
        .store = store_, .clock = local_time(news_.picture.taken_at, news_.picture.taken_at), .trouble = news_.trouble};
    const auto frame = laid_out(panels_, view_, head, size);
    view_.first_row = frame.first_row;
    page_ = frame.page;
    terminal_.show(frame.lines, size);
  }

  void wait() {
    std::array<pollfd, 3> inputs{pollfd{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                                 pollfd{.fd = signals_.fd(), .events = POLLIN, .revents = 0},
                                 pollfd{.fd = feed_.fd(), .events = POLLIN, .revents = 0}};
    const int ready = ::poll(inputs.data(), inputs.size(), keys_.expects_more() ? patience_for_key_ms : -1);
    if (ready == 0) press(keys_.give_up_waiting());
    if (ready <= 0) return;
    if (inputs[0].revents != 0) take_keys();
    if (inputs[1].revents != 0) take_signals();
    if (inputs[2].revents != 0) take_news();
  }

  void take_keys() {
    const auto typed = terminal_.read_typed();
    if (!typed) signal_ = SIGHUP;
    if (typed) press(keys_.take(*typed));
  }

  void press(const std::vector<TopKey>& keys) {
    for (const auto& key : keys) view_.press(key, panels_.size(), page_);
    feed_.set_paused(view_.paused);
  }

  void take_signals() {
    while (const auto number = signals_.next()) {
      if (*number == SIGTSTP) {
        terminal_.stop_and_come_back();
      } else if (*number != SIGWINCH) {
        signal_ = *number;
      }
    }
  }

  void take_news() {
    auto news = feed_.take();
    // A picture may have been on its way when the user paused.
    if (view_.paused) return;
    news_ = std::move(news);
    panels_ = panels_of(news_.picture);
  }

  const TopSignals& signals_;
  const TopFeed& feed_;
  TopNews news_;
  std::string store_;
  std::vector<TopPanel> panels_ = panels_of(news_.picture);
  TopTerminal terminal_;
  TopKeys keys_;
  TopView view_;
  std::size_t page_ = 0;
  int signal_ = 0;
};

int show_once(const Context& context) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto picture = TopReader(*store, events_once).read();
  if (!picture) return report(context, picture.error());
  if (context.json) {
    print_line(to_json(*picture));
    return exit_code::ok;
  }
  for (const auto& line : written_out(panels_of(*picture), terminal_width())) print_line(line);
  return exit_code::ok;
}

int show_live(const Context& context, Duration every) {
  const TopSignals signals;
  auto store = context.open_or_make_store({.call_timeout = patience_with_store});
  if (!store) return report(context, store.error());
  TopReader reader(*store, events_live);
  auto first = reader.read();
  if (!first) return report(context, first.error());
  const TopFeed feed(*store, std::move(reader), std::move(*first), every);
  return TopLoop(signals, feed, shown_url(*context.store_url())).run();
}

int top(const Context& context, const TopOptions& options) {
  if (options.every < shortest_every) {
    return report(context, {.code = Errc::invalid_argument, .message = "--every: at least 100ms"});
  }
  if (options.once || context.json || !TopTerminal::is_there()) return show_once(context);
  const int code = show_live(context, options.every);
  std::fflush(nullptr);
  // The user who pressed q does not wait for an unresponsive store: the thread that queries it only reads, and ends
  // with us.
  std::quick_exit(code);
}

}  // namespace

void add_top(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "top", "Show leases, queues, chunks, sessions, schedules and events, live",
                  {"leasehold top", "leasehold top --every 5s", "leasehold top --once",
                   "leasehold top --json | jq '.sessions[] | {id, state, item}'"});
  auto options = std::make_shared<TopOptions>();
  add_duration(*command, "--every", options->every,
               "Refresh this often, and sooner when something changes (default 1s)");
  command->add_flag("--once", options->once, "Print once and exit; the default without a terminal");
  set_action(*command, context, [&context, options] { return top(context, *options); });
}

}  // namespace leasehold::cli
