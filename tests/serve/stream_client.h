// A client of the live stream, and the live stream without its thread.
//
//   class StreamRowsTest : public LiveTest {};
//   auto ann = connect("leases");
//   turn();
//   EXPECT_EQ(ann.names(), "hello leases ");
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "serve/live.h"
#include "support/lock_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {

struct Frame {
  std::string name{};  ///< ":" of a heartbeat line
  std::string data{};
  std::string id{};
};

/// Reads a stream as the transport does.
class StreamClient {
 public:
  [[nodiscard]] const std::shared_ptr<serve::Stream>& stream() const { return stream_; }

  /// The frames since the last call.
  std::vector<Frame> take() {
    bytes_ += stream_->take();
    stream_->sent();
    std::vector<Frame> frames;
    for (auto end = bytes_.find("\n\n"); end != std::string::npos; end = bytes_.find("\n\n")) {
      frames.push_back(parsed(bytes_.substr(0, end)));
      bytes_.erase(0, end + 2);
      if (!frames.back().id.empty()) last_id_ = frames.back().id;
      if (frames.back().name == "event") ++events_;
    }
    return frames;
  }
  /// "hello leases ": their names; without statistics, which come every five seconds.
  std::string names() {
    std::string names;
    for (const auto& one : take()) names += one.name == "stats" ? "" : one.name + " ";
    return names;
  }
  /// The data of all frames of a name since the last call.
  std::string data(const std::string& name) {
    std::string data;
    for (const auto& one : take()) data += one.name == name ? one.data + "\n" : "";
    return data;
  }
  /// As a browser sends it when it reconnects.
  [[nodiscard]] std::optional<EventMark> last_id() const {
    const auto mark = parse_event_mark(last_id_);
    return mark ? std::optional(*mark) : std::nullopt;
  }
  [[nodiscard]] std::size_t events() const { return events_; }

 private:
  static Frame parsed(const std::string& text) {
    Frame frame;
    if (text.starts_with(":")) frame.name = ":";
    for (std::size_t begin = 0; begin < text.size();) {
      const auto end = std::min(text.find('\n', begin), text.size());
      const auto line = text.substr(begin, end - begin);
      const auto value = line.substr(std::min(line.find(": ") + 2, line.size()));
      if (line.starts_with("event: ")) frame.name = value;
      if (line.starts_with("data: ")) frame.data = value;
      if (line.starts_with("id: ")) frame.id = value;
      begin = end + 1;
    }
    return frame;
  }

  std::shared_ptr<serve::Stream> stream_ = std::make_shared<serve::Stream>();
  std::string bytes_;
  std::string last_id_;
  std::size_t events_ = 0;
};

/// A live stream on a store and a clock that the test moves.
class LiveTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    restart();
  }
  void restart() {
    live_ = std::make_unique<serve::Live>(store(), [this] { return boot_; });
  }
  serve::Live& live() { return *live_; }

  StreamClient connect(const std::string& topics, std::optional<EventMark> after = {}) {
    StreamClient client;
    live_->add({.stream = client.stream(), .topics = *serve::parse_topics(topics), .after = after});
    return client;
  }
  /// A turn so much later; the store has changed.
  serve::Live::Next turn(Duration later = 1s) { return turn_after(later, true); }
  serve::Live::Next turn_unchanged(Duration later) { return turn_after(later, false); }
  /// Until nothing is left to read.
  void turn_all() {
    while (turn(50ms).soon && ++turns_ < 10'000) continue;
  }
  [[nodiscard]] BootTime boot() const { return boot_; }

 private:
  serve::Live::Next turn_after(Duration later, bool changed) {
    boot_ += later;
    return live_->turn(changed);
  }

  std::unique_ptr<serve::Live> live_;
  BootTime boot_{1h};
  int turns_ = 0;
};

/// How often `part` is in `text`.
inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

}  // namespace leasehold::support
