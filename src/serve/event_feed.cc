#include "serve/event_feed.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "serve/rows.h"

namespace leasehold::serve {
namespace {

constexpr int page_size = 200;
/// How long a turn spends on the shared events, and then on the backlogs of all clients together (max_backlog_turn).
constexpr Duration max_shared_turn = std::chrono::milliseconds(200);
/// How many bytes of shared events a turn writes: a client that reads between two turns must not look slow
/// (Listener::max_waiting) because many events came at once.
constexpr std::size_t max_shared_bytes = std::size_t{256} << 10;
constexpr Duration max_backlog_turn = std::chrono::milliseconds(50);

std::string frames_of(const std::vector<Event>& events) {
  std::string frames;
  for (const auto& event : events) frames += frame("event", json_of(event), event.mark);
  return frames;
}

bool is_full(const std::vector<Event>& page) { return page.size() >= std::size_t{page_size}; }

}  // namespace

Result<EventMark> EventFeed::begin() {
  if (!shared_) {
    auto reader = store_.follow_events({.max = page_size});
    if (!reader) return std::move(reader).error();
    shared_ = std::move(*reader);
  }
  return shared_->mark();
}

Result<bool> EventFeed::turn(std::list<Listener>& listeners, BootTime now) {
  unfinished_ = false;
  const bool wanted = std::any_of(listeners.begin(), listeners.end(),
                                  [](const Listener& listener) { return listener.has(Topic::events); });
  if (!wanted) {
    end();
    return false;
  }
  if (auto begun = begin(); !begun) return std::move(begun).error();
  auto news = read_shared(listeners, now);
  if (!news) return news;
  if (auto read = read_backlogs(listeners, now); !read) return std::move(read).error();
  return news;
}

Result<bool> EventFeed::read_shared(std::list<Listener>& listeners, BootTime now) {
  const auto began = BootClock::now();
  bool news = false;
  std::size_t written = 0;
  do {
    auto page = shared_->next();
    if (!page) return std::move(page).error();
    news = news || !page->empty();
    unfinished_ = is_full(*page);
    const auto frames = frames_of(*page);
    written += frames.size();
    for (auto& listener : listeners) {
      if (listener.shares_events()) listener.write_events(frames, shared_->mark(), now);
    }
  } while (unfinished_ && written < max_shared_bytes && BootClock::now() - began < max_shared_turn);
  return news;
}

Result<void> EventFeed::read_backlogs(std::list<Listener>& listeners, BootTime now) {
  const auto began = BootClock::now();
  for (auto remaining = listeners.size(); remaining > 0; --remaining) {
    auto& listener = listeners.front();
    if (listener.has_backlog() && BootClock::now() - began >= max_backlog_turn) {
      unfinished_ = true;
      return {};
    }
    // The next turn begins with the next client.
    listeners.splice(listeners.end(), listeners, listeners.begin());
    if (!listener.has_backlog()) continue;
    if (auto read = read_backlog(listener, now); !read) return read;
    unfinished_ = unfinished_ || (listener.has_backlog() && listener.may_read_on());
  }
  return {};
}

/// Reads a page. If this page ends a scan that began after the latest scan of the shared reader, the client joins the
/// others: it has every event that they have.
Result<void> EventFeed::read_backlog(Listener& listener, BootTime now) {
  if (!listener.may_read_on()) return {};
  auto& reader = listener.reader();
  if (!reader) {
    auto made = store_.follow_events({.after = listener.mark(), .max = page_size});
    if (!made) return std::move(made).error();
    reader = std::move(*made);
    listener.mid_scan = false;
  }
  auto page = reader->next();
  if (!page) return std::move(page).error();
  const bool began_before = std::exchange(listener.mid_scan, is_full(*page));
  const bool joins = !began_before && !listener.mid_scan;
  const auto mark = reader->mark();
  listener.write_events(frames_of(*page), mark, now);
  if (joins && listener.has_backlog()) listener.end_backlog();
  return {};
}

}  // namespace leasehold::serve
