#include "serve/listener.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/json.h"

namespace leasehold::serve {

void Listener::greet(std::string_view hello, BootTime now) {
  greeted_ = true;
  stream_->write(hello);
  written_at_ = now;
}

bool Listener::falls_behind() {
  const auto waiting = stream_->waiting();
  if (waiting <= max_waiting) limit_ = max_waiting;
  if (!lags_ && waiting > limit_) {
    lags_ = true;
    shown_ = {};
    backlog_ = has(Topic::events);
    reader_.reset();
  }
  return lags_;
}

void Listener::write(std::string_view frames, BootTime now) {
  if (frames.empty() || falls_behind()) return;
  stream_->write(frames);
  written_at_ = now;
}

void Listener::write_snapshot(Topic topic, const std::vector<std::string>& frames, BootTime now) {
  if (falls_behind()) return;
  for (const auto& one : frames) {
    stream_->write(one);
    // A large snapshot does not count as falling behind.
    limit_ += one.size();
  }
  written_at_ = now;
  shown_.add(topic);
}

bool Listener::wants_snapshot(Topic topic) const { return greeted_ && !lags_ && has(topic) && !shown_.has(topic); }

void Listener::begin_with(const EventMark& mark) {
  backlog_ = mark_.has_value();
  if (!backlog_) mark_ = mark;
}

void Listener::write_events(std::string_view frames, const EventMark& mark, BootTime now) {
  if (!frames.empty() && falls_behind()) return;
  if (!frames.empty()) stream_->write(frames), written_at_ = now;
  mark_ = mark;
}

void Listener::catch_up(BootTime now) {
  if (!lags_ || stream_->waiting() > little_waiting) return;
  lags_ = false;
  limit_ = max_waiting;
  const auto mark = mark_ ? to_string(*mark_) : std::string();
  write(frame("reset", mark.empty() ? R"({"mark":null})" : model::json_object({{"mark", mark}}), mark), now);
}

void Listener::beat(BootTime now) {
  if (now - written_at_ >= between_heartbeats) write(heartbeat_line, now);
}

void Listener::close(std::string_view bye) {
  stream_->write(bye);
  stream_->close();
}

}  // namespace leasehold::serve
