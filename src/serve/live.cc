#include "serve/live.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/errors.h"
#include "model/json.h"
#include "store/store.h"

namespace leasehold::serve {
namespace {

constexpr Duration every_second = std::chrono::seconds(1);
/// The pause between pages of a backlog, for a client that reads more slowly than we could write.
constexpr Duration between_backlog_pages = std::chrono::milliseconds(50);
constexpr Duration between_rows = std::chrono::milliseconds(500);
constexpr Duration between_events = std::chrono::milliseconds(50);
/// PostgreSQL sends notifications only to processes that wait for something, so most events come without one.
constexpr Duration between_events_unannounced = std::chrono::milliseconds(100);
constexpr Duration between_stats = std::chrono::seconds(5);
/// A pause is this many times as long as the read before it: if reading rows takes 200 ms, it happens once a second.
constexpr int rest_after_rows = 4;
constexpr int rest_after_stats = 20;
constexpr int rest_after_events = 2;

constexpr int reconnect_ms = 2000;

std::string bye_frame(std::string_view reason) { return frame("bye", model::json_object({{"reason", reason}})); }

std::string trouble_frame(const Error& error) {
  return frame("trouble", model::json_object({{"code", std::string_view(to_string(error.code))},
                                              {"message", std::string_view(error.message)}}));
}

Duration longest_between_events(const Store& store) {
  return store.backend() == "postgresql" ? between_events_unannounced : every_second;
}

}  // namespace

void Pace::looked(BootTime now, Duration took) {
  changed_ = false;
  soonest_ = now + std::max(quickest_, took * rest_);
  latest_ = std::max(soonest_, now + slowest_);
}

void Pace::postpone(BootTime until) {
  soonest_ = std::max(soonest_, until);
  latest_ = std::max(latest_, until);
}

Live::Live(const Store& store, Now clock)
    : store_(store_over(store.impl().backend, {.call_timeout = call_timeout})),
      clock_(std::move(clock)),
      events_(store_),
      event_pace_(between_events, longest_between_events(store), rest_after_events),
      stats_pace_(between_stats, between_stats, rest_after_stats) {
  for (const auto topic : row_topics) {
    topics_.push_back({.topic = topic, .pace = {between_rows, every_second, rest_after_rows}});
  }
}

void Live::add(Subscription subscription) {
  listeners_.emplace_back(std::move(subscription));
  // A client that comes late learns of trouble that is not over.
  if (!troubles_.empty()) {
    listeners_.back().write(trouble_frame(troubles_.begin()->second), now_);
  }
}

Live::Next Live::turn(bool changed) {
  now_ = clock_();
  forget_the_gone();
  if (idle()) return {.at = BootTime::max()};
  if (changed) {
    event_pace_.note_change();
    note_change_of_rows();
  }
  if (stats_pace_.due() <= now_ && may_ask()) read_stats();
  if (store_now_ && may_ask()) greet();
  for (auto& listener : listeners_) listener.catch_up(now_);
  if (event_pace_.due() <= now_ && may_ask()) read_events();
  for (auto& state : topics_) {
    if (is_wanted(state) && state.pace.due() <= now_ && may_ask()) read_topic(state);
  }
  for (auto& listener : listeners_) listener.beat(now_);
  return next();
}

void Live::note_change_of_rows() {
  for (auto& state : topics_) state.pace.note_change();
}

void Live::forget_the_gone() {
  for (auto& listener : listeners_) {
    if (listener.has_lost_token()) listener.close(bye_frame("the API token was revoked or has expired"));
  }
  listeners_.remove_if([](const Listener& listener) { return listener.gone() || listener.has_lost_token(); });
  if (!idle()) return;
  events_.end();
  troubles_.clear();
}

void Live::read_stats() {
  const auto began = clock_();
  const auto status = store_.status();
  const auto recovery = status ? store_.recovery_stats() : Result<RecoveryStats>(status.error());
  if (!recovery) return trouble("stats", recovery.error());
  stats_pace_.looked(now_, clock_() - began);
  no_trouble("stats");
  store_now_ = status->store_now;
  store_now_read_ = now_;
  stats_ = frame(
      "stats", fmt::format(R"({{"status":{},"recovery":{},"listeners":{},"store_now":"{}"}})", model::to_json(*status),
                           model::to_json(*recovery), listeners_.size(), to_string(*store_now_)));
  for (auto& listener : listeners_) {
    if (listener.greeted()) listener.write(stats_, now_);
  }
}

void Live::greet() {
  for (auto& listener : listeners_) {
    if (listener.greeted()) continue;
    if (listener.has(Topic::events)) {
      auto mark = events_.begin();
      if (!mark) return trouble("events", mark.error());
      listener.begin_with(*mark);
      event_pace_.note_change();
    }
    listener.greet(hello(listener) + stats_, now_);
    for (auto& state : topics_) {
      if (listener.has(state.topic)) state.pace.note_change();
    }
  }
}

std::string Live::hello(const Listener& listener) const {
  const auto mark = listener.mark() ? to_string(*listener.mark()) : std::string();
  const auto data = fmt::format(R"({{"server":"leasehold","version":"{}","backend":"{}","store_now":"{}","mark":{},)"
                                R"("topics":{},"heartbeat_seconds":{}}})",
                                LEASEHOLD_VERSION, store_.backend(), to_string(*store_now_ + (now_ - store_now_read_)),
                                mark.empty() ? "null" : fmt::format("\"{}\"", mark), json_of(listener.topics()),
                                std::chrono::duration_cast<std::chrono::seconds>(Listener::between_heartbeats).count());
  return fmt::format("retry: {}\n", reconnect_ms) + frame("hello", data, mark);
}

void Live::read_events() {
  const auto began = clock_();
  const auto news = events_.turn(listeners_, now_);
  if (!news) return trouble("events", news.error());
  event_pace_.looked(now_, clock_() - began);
  no_trouble("events");
  if (events_.unfinished()) event_pace_.note_change();
  if (*news) note_change_of_rows();
}

bool Live::is_wanted(TopicState& state) {
  const bool wanted = std::any_of(listeners_.begin(), listeners_.end(), [&](const Listener& listener) {
    return listener.greeted() && listener.has(state.topic);
  });
  if (!wanted) {
    state.seen = {};
    no_trouble(word_of(state.topic));
  }
  return wanted;
}

void Live::read_topic(TopicState& state) {
  const auto began = clock_();
  const auto rows = read_rows(store_, state.topic);
  if (!rows) return trouble(word_of(state.topic), rows.error());
  write_rows(state, *rows);
  state.pace.looked(now_, clock_() - began);
  no_trouble(word_of(state.topic));
}

void Live::write_rows(TopicState& state, const Rows& rows) {
  std::string changes;
  for (const auto& one : state.seen.changes(rows)) changes += one;
  std::optional<std::vector<std::string>> all;
  for (auto& listener : listeners_) {
    if (listener.wants_snapshot(state.topic)) {
      if (!all) all = snapshot(rows);
      listener.write_snapshot(state.topic, *all, now_);
    } else if (listener.greeted() && listener.has(state.topic)) {
      listener.write(changes, now_);
    }
  }
}

void Live::trouble(std::string_view source, const Error& error) {
  const bool is_new = troubles_.empty();
  troubles_.insert_or_assign(std::string(source), error);
  if (is_new) {
    for (auto& listener : listeners_) listener.write(trouble_frame(error), now_);
  }
  // If the store does not answer, ask it once a second, not once for each topic.
  if (is_store_trouble(error.code) && may_repeat(error.code)) {
    asks_again_ = now_ + every_second;
    return;
  }
  for (auto& state : topics_) {
    if (word_of(state.topic) == source) state.pace.postpone(now_ + between_stats);
  }
  if (source == "events") event_pace_.postpone(now_ + between_stats);
  if (source == "stats") stats_pace_.postpone(now_ + between_stats);
}

void Live::no_trouble(std::string_view source) {
  const auto found = troubles_.find(source);
  if (found == troubles_.end()) return;
  troubles_.erase(found);
  if (troubles_.empty()) {
    for (auto& listener : listeners_) listener.write(frame("trouble", R"({"code":null,"message":null})"), now_);
  }
}

Live::Next Live::next() const {
  Next next{.at = std::min(now_ + every_second, stats_pace_.due()), .soon = true};
  // While rows wait for half a second, a change must still wake the thread for events.
  const auto consider = [&](const Pace& pace) {
    next.at = std::min(next.at, pace.due());
    next.soon = next.soon && pace.has_changed();
  };
  const auto wanted = [&](Topic topic) {
    return std::any_of(listeners_.begin(), listeners_.end(),
                       [&](const Listener& listener) { return listener.has(topic); });
  };
  if (wanted(Topic::events)) consider(event_pace_);
  for (const auto& state : topics_) {
    if (wanted(state.topic)) consider(state.pace);
  }
  const bool backlog = std::any_of(listeners_.begin(), listeners_.end(),
                                   [](const Listener& listener) { return listener.has_backlog(); });
  if (backlog) next.at = std::min(next.at, now_ + between_backlog_pages);
  next.at = std::max(next.at, asks_again_);
  return next;
}

void Live::close(std::string_view reason) {
  const auto bye = bye_frame(reason);
  for (auto& listener : listeners_) listener.close(bye);
  listeners_.clear();
  events_.end();
}

}  // namespace leasehold::serve
