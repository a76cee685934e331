#include "cli/session_live.h"

#include "cli/live_screen.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/stop_signals.h"
#include "cli/store_trouble.h"
#include "storage/boot_wait.h"

namespace leasehold::cli {
namespace {

/// Changes wake it up, but looking at every one of them would be a burden to a busy store.
constexpr Duration shortest_pause = std::chrono::milliseconds(200);
constexpr Duration longest_pause = std::chrono::milliseconds(800);

class ListWatcher {
 public:
  ListWatcher(const Context& context, const Store& store, const WatchedList& list)
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
      storage::sleep_until(BootClock::now() + shortest_pause, stop_.get_token());
      store_.wait_for_change(longest_pause);
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
      if (!picture.entries.contains(key)) print("{}  {}: not in the list any more", time, printable(key));
    }
  }

  bool passes(const Error& error) {
    screen_.leave();
    return trouble_.passes(error, stop_.get_token());
  }

  const Context& context_;
  const Store& store_;
  const WatchedList& list_;
  const bool on_screen_;
  LiveScreen screen_;
  bool first_ = true;
  std::map<std::string, std::string> last_;
  StoreTrouble trouble_;
  const std::stop_source stop_;
};

void print_table(const ListPicture& picture, const WatchedList& list) {
  const auto count = picture.table.size() - 1;
  if (count == 0) return say("no {}", list.what);
  for (const auto& line : picture.table) print_line(line);
  if (count == static_cast<std::size_t>(list.limit)) say("only the first {} are shown: see --limit", list.limit);
}

}  // namespace

int watch_list(const Context& context, const Store& store, const WatchedList& list) {
  return ListWatcher(context, store, list).run();
}

int print_list(const Context& context, const WatchedList& list) {
  const auto picture = list.look();
  if (!picture) return report(context, picture.error());
  if (context.json) {
    print_line(picture->json);
  } else {
    print_table(*picture, list);
  }
  return exit_code::ok;
}

}  // namespace leasehold::cli
