#include "cli/print/list.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/time_text.h"
#include "cli/command.h"
#include "cli/print/live.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/signals.h"
#include "cli/store_trouble.h"

namespace leasehold::cli {
namespace {

/// A change wakes the watcher, but looking after each one would burden a busy store.
constexpr Duration shortest_pause = std::chrono::milliseconds(200);
constexpr Duration longest_pause = std::chrono::milliseconds(800);

class ListWatcher {
 public:
  ListWatcher(const Context& context, const Store* store, const List& list)
      : context_(context), store_(store), list_(list), on_screen_(!context.json && terminal_width().has_value()) {}

  int run() {
    const StopSignals signals(stop_);
    while (!stop_.stop_requested() && printed_well()) {
      const auto picture = list_.look();
      if (picture) {
        show(*picture);
      } else if (!passes(picture.error())) {
        return report(context_, picture.error());
      }
      sleep_until(BootClock::now() + (store_ ? shortest_pause : longest_pause), stop_.get_token());
      if (store_) store_->wait_for_change(longest_pause);
    }
    return exit_code::ok;
  }

 private:
  void show(const ListPicture& picture) {
    trouble_.end();
    if (on_screen_) return screen_.show(picture.table);
    if (!first_ && picture.entries == last_) return;
    if (context_.json) {
      print_line(picture.json);
    } else {
      print_changes(picture);
    }
    first_ = false;
    last_ = picture.entries;
  }

  void print_changes(const ListPicture& picture) {
    const auto now = wall_clock();
    const auto time = local_time(now, now);
    for (const auto& [key, text] : picture.entries) {
      const auto before = last_.find(key);
      if (before == last_.end() || before->second != text) print("{}  {}: {}", time, printable(key), text);
    }
    for (const auto& [key, text] : last_) {
      if (!picture.entries.contains(key)) print("{}  {}: no longer in the list", time, printable(key));
    }
  }

  bool passes(const Error& error) {
    screen_.leave();
    return trouble_.passes(error, stop_.get_token());
  }

  const Context& context_;
  const Store* const store_;  ///< may be null
  const List& list_;
  const bool on_screen_;
  LiveScreen screen_;
  bool first_ = true;
  std::map<std::string, std::string> last_;
  StoreTrouble trouble_;
  const std::stop_source stop_;
};

int print_once(const Context& context, const List& list) {
  const auto picture = list.look();
  if (!picture) return report(context, picture.error());
  if (context.json) {
    print_line(picture->json);
  } else if (picture->entries.empty()) {
    say("no {}", list.what);
  } else {
    for (const auto& line : picture->table) print_line(line);
    say_next_page(picture->next);
  }
  return exit_code::ok;
}

}  // namespace

int show_list(const Context& context, const Store& store, const List& list) {
  return list.watch ? ListWatcher(context, &store, list).run() : print_once(context, list);
}

int show_list(const Context& context, const List& list) {
  return list.watch ? ListWatcher(context, nullptr, list).run() : print_once(context, list);
}

void add_watch(CLI::App& command, bool& watch) {
  command.add_flag("-w,--watch", watch,
                   "Run until interrupted: redraw in place on a terminal, else print a line for every change");
}

void add_paging(CLI::App& command, int& max, std::string& page) {
  add_max(command, max, "Show at most N");
  command.add_option("--page", page, "Show this page: the `next` of the previous page")
      ->check(not_empty)
      ->type_name("PAGE");
}

void say_next_page(const std::optional<std::string>& next) {
  if (next) say("there are more: continue with --page {}", *next);
}

}  // namespace leasehold::cli
