// One client of the live stream: what it listens to, how far it has read, and whether it keeps up.
//
// A client that falls max_waiting behind gets nothing more until it has caught up. Then it gets `reset`, a snapshot of
// its rows, and the events that it missed: the mark stays where the client stopped.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leasehold/events.h"
#include "leasehold/time.h"
#include "serve/http.h"
#include "serve/topics.h"

namespace leasehold::serve {

struct Subscription {
  std::shared_ptr<Stream> stream{};
  Topics topics{};
  std::optional<EventMark> after{};  ///< resume behind this mark; nothing: events from now on
  /// Stops when the client's API token ends, see TokenWatch; null: the client needs no token.
  std::shared_ptr<std::stop_source> token{};
};

/// Belongs to one thread.
class Listener {
 public:
  static constexpr std::size_t max_waiting = std::size_t{1} << 20;
  /// When no more bytes than this wait, a lagging client has caught up, and the feed continues to read a backlog.
  static constexpr std::size_t little_waiting = std::size_t{1} << 16;
  static constexpr Duration between_heartbeats = std::chrono::seconds(15);

  explicit Listener(Subscription subscription)
      : stream_(std::move(subscription.stream)),
        topics_(subscription.topics),
        mark_(subscription.after),
        token_(std::move(subscription.token)) {}

  [[nodiscard]] bool gone() const { return stream_->gone(); }
  /// Whether its API token is no longer valid.
  [[nodiscard]] bool has_lost_token() const { return token_ && token_->stop_requested(); }
  [[nodiscard]] bool has(Topic topic) const { return topics_.has(topic); }
  [[nodiscard]] const Topics& topics() const { return topics_; }

  /// Writes the first frame. Before it, the client gets only `trouble`.
  void greet(std::string_view hello, BootTime now);
  [[nodiscard]] bool greeted() const { return greeted_; }

  /// Does nothing while the client lags; then it gets a snapshot later.
  void write(std::string_view frames, BootTime now);
  void write_snapshot(Topic topic, const std::vector<std::string>& frames, BootTime now);
  [[nodiscard]] bool wants_snapshot(Topic topic) const;

  // Events. A client reads its own backlog before it shares the events of all.

  void write_events(std::string_view frames, const EventMark& mark, BootTime now);
  [[nodiscard]] bool shares_events() const { return greeted_ && has(Topic::events) && !lags_ && !backlog_; }
  [[nodiscard]] bool has_backlog() const { return backlog_ && !lags_; }
  [[nodiscard]] bool may_read_on() const { return stream_->waiting() <= little_waiting; }
  void begin_with(const EventMark& mark);
  void end_backlog() { backlog_ = false, reader_.reset(); }
  [[nodiscard]] const std::optional<EventMark>& mark() const { return mark_; }
  /// The reader of its backlog; empty before the first page.
  std::optional<EventReader>& reader() { return reader_; }
  bool mid_scan = false;  ///< of its reader: the latest page was full

  /// Tells a client that has caught up that frames are missing.
  void catch_up(BootTime now);
  void beat(BootTime now);
  void close(std::string_view bye);

 private:
  bool falls_behind();

  std::shared_ptr<Stream> stream_;
  Topics topics_;
  std::optional<EventMark> mark_;  ///< the client has got every event below
  std::shared_ptr<std::stop_source> token_;
  std::optional<EventReader> reader_{};
  Topics shown_{};  ///< the rows that the client knows
  bool backlog_ = false;
  bool greeted_ = false;
  bool lags_ = false;
  std::size_t limit_ = max_waiting;
  BootTime written_at_{};
};

}  // namespace leasehold::serve
