// The live stream without its thread: clients come, and each turn reads what is due and writes it to them.
//
//   Live live(store);
//   live.add({.stream = stream, .topics = topics});
//   const auto next = live.turn(changed);            // call it again at next.at, or sooner when the store changes
//
// It reads the store once for all clients: rows at most twice a second, and events at most twenty times. The longer a
// read takes, the rarer it is.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/store.h"
#include "serve/event_feed.h"
#include "serve/listener.h"
#include "serve/rows.h"

namespace leasehold::serve {

/// When to read something again.
class Pace {
 public:
  /// `rest`: after a read, the next one waits for at least this many times its duration.
  Pace(Duration quickest, Duration slowest, int rest) : quickest_(quickest), slowest_(slowest), rest_(rest) {}

  void note_change() { changed_ = true; }
  [[nodiscard]] bool has_changed() const { return changed_; }
  [[nodiscard]] BootTime due() const { return changed_ ? soonest_ : latest_; }
  void looked(BootTime now, Duration took);
  /// After a failure.
  void postpone(BootTime until);

 private:
  Duration quickest_;
  Duration slowest_;
  int rest_;
  bool changed_ = true;
  BootTime soonest_{};
  BootTime latest_{};
};

/// Belongs to one thread.
class Live {
 public:
  struct Next {
    BootTime at{};
    bool soon = false;  ///< everything waits for its turn already: do not wake up for changes before `at`
  };

  /// Calls to the store take at most this long.
  static constexpr Duration call_timeout = std::chrono::seconds(5);

  using Now = std::function<BootTime()>;

  explicit Live(const Store& store, Now clock = BootClock::now);

  void add(Subscription subscription);
  [[nodiscard]] bool idle() const { return listeners_.empty(); }

  /// `changed`: the store may have changed since the last turn. Without clients it only returns.
  Next turn(bool changed);
  /// Ends every stream.
  void close(std::string_view reason);

 private:
  struct TopicState {
    Topic topic{};
    Pace pace;
    SeenRows seen{};
  };

  void note_change_of_rows();
  void forget_the_gone();
  void read_stats();
  void greet();
  void read_events();
  void read_topic(TopicState& state);
  void write_rows(TopicState& state, const Rows& rows);
  /// Whether a client listens to the topic. If none does, this forgets its rows.
  bool is_wanted(TopicState& state);
  [[nodiscard]] std::string hello(const Listener& listener) const;
  Next next() const;

  void trouble(std::string_view source, const Error& error);
  void no_trouble(std::string_view source);
  [[nodiscard]] bool may_ask() const { return now_ >= asks_again_; }

  const Store store_;
  const Now clock_;
  std::list<Listener> listeners_{};
  EventFeed events_;
  Pace event_pace_;
  Pace stats_pace_;
  std::vector<TopicState> topics_{};
  BootTime now_{};
  BootTime asks_again_{};  ///< when to ask a store again that did not answer
  std::map<std::string, Error, std::less<>> troubles_{};
  std::optional<Timestamp> store_now_{};
  BootTime store_now_read_{};
  std::string stats_{};  ///< the latest frame
};

}  // namespace leasehold::serve
