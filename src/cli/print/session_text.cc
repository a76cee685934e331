#include "cli/print/session_text.h"

#include "base/clock.h"
#include "base/text.h"
#include "base/time_text.h"
#include "cli/print/live.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/signals.h"
#include "cli/store_trouble.h"

namespace leasehold::cli {
namespace {

constexpr std::size_t longest_in_table = 60;
constexpr std::size_t longest_field = 400;
/// What takes a column, takes no more bytes than this; a few combining marks included.
constexpr std::size_t bytes_per_column = 16;

/// A text may be a hundred kilobytes long: only what can be seen is looked at.
std::string first_columns(std::string_view text, std::size_t columns) {
  return cut_to(printable(clean_text(text, columns * bytes_per_column)), columns);
}

}  // namespace

std::string coloured(SessionStatus status) {
  switch (status) {
    case SessionStatus::active: return coloured(Tone::good, to_string(status));
    case SessionStatus::idle: return coloured(Tone::warning, to_string(status));
    case SessionStatus::stale: return coloured(Tone::bad, to_string(status));
    case SessionStatus::released: break;
  }
  return coloured(Tone::faint, to_string(status));
}

std::string coloured(ItemState state) {
  switch (state) {
    case ItemState::claimed: return coloured(Tone::good, to_string(state));
    case ItemState::stale: return coloured(Tone::bad, to_string(state));
    case ItemState::done: return coloured(Tone::faint, to_string(state));
    case ItemState::open: break;
  }
  return to_string(state);
}

std::string told(const Claim& claim) {
  auto text = fmt::format("claimed {}  token {}  by session {}", printable(claim.item), claim.token.value,
                          printable(claim.session));
  if (claim.created) text += "  (a new item)";
  if (claim.replayed) text += "  (it had it already)";
  if (!claim.previous_session.empty()) {
    text += fmt::format("\n  taken over from session {}, which had gone stale ({})", printable(claim.previous_session),
                        printable(claim.previous_holder));
  }
  return text;
}

SessionStatus health_of(const LeaseInfo& owner) {
  if (owner.state != LeaseState::running) return SessionStatus::stale;
  const bool working = owner.progress_at && owner.store_now - *owner.progress_at < owner.ttl;
  return working ? SessionStatus::active : SessionStatus::idle;
}

std::string on_one_line(std::string_view text) { return first_columns(text, longest_in_table); }

std::string shown_field(std::string_view text) {
  const auto shown = first_columns(text, longest_field);
  return text.size() > longest_field ? fmt::format("{} ({} bytes)", shown, text.size()) : shown;
}

void print_text(std::string_view name, std::string_view text) {
  if (!text.empty()) print_field(name, shown_field(text));
}

std::string shown_terminal(const Holder& holder) {
  constexpr std::string_view devices = "/dev/";
  std::string_view name = holder.tty;
  if (name.starts_with(devices)) name.remove_prefix(devices.size());
  return name.empty() ? "-" : printable(name);
}

std::string age_in_words_and_seconds(Duration age) {
  return fmt::format("{} ({} s)", format_age(age), std::chrono::floor<std::chrono::seconds>(age).count());
}

std::string shown_end_of(const SessionInfo& session) {
  // Its process may be gone long before its time is over.
  const bool stale = session.status == SessionStatus::stale;
  return stale ? "now" : shown_distance(session.until_stale());
}

std::string shown_end_of(const LeaseInfo& owner) {
  return owner.state == LeaseState::running ? shown_distance(owner.frees_in()) : "now";
}

std::vector<Field> fields_of_owner(const LeaseInfo& owner) {
  const auto age_of = [&owner](const std::optional<Timestamp>& when) {
    return when ? age_in_words_and_seconds(owner.store_now - *when) : std::string("-");
  };
  const bool alive = owner.state == LeaseState::running;
  std::vector<Field> fields{{"item", printable(owner.key)}, {"session", printable(owner.session)}};
  if (!owner.label.empty()) fields.push_back({"label", on_one_line(owner.label)});
  fields.push_back({"holder", printable(owner.holder.name)});
  fields.push_back({"host", printable(owner.holder.host)});
  fields.push_back({"tty", shown_terminal(owner.holder)});
  fields.push_back({"heartbeat", age_of(owner.heartbeat_at)});
  fields.push_back({"progress", age_of(owner.progress_at)});
  fields.push_back({"claimed", age_of(owner.taken_at)});
  fields.push_back({"frees", shown_end_of(owner) + (alive ? ", unless it heartbeats" : "")});
  return fields;
}

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
      sleep_until(BootClock::now() + shortest_pause, stop_.get_token());
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
