// The topics of the live stream, and the frames that carry them (Server-Sent Events).
//
//   auto topics = parse_topics("leases,events");       // "" means all
//   stream.write(frame("event", json, "742-0"));       // id: 742-0 / event: event / data: {...} / empty line
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <string>
#include <string_view>

#include "leasehold/result.h"

namespace leasehold::serve {

enum class Topic { leases, queues, sessions, schedules, chunks, workers, events };

/// All topics but events: they show rows that change.
inline constexpr std::array<Topic, 6> row_topics = {Topic::leases,    Topic::queues, Topic::sessions,
                                                    Topic::schedules, Topic::chunks, Topic::workers};

std::string_view word_of(Topic topic);

class Topics {
 public:
  void add(Topic topic) { chosen_.set(static_cast<std::size_t>(topic)); }
  [[nodiscard]] bool has(Topic topic) const { return chosen_.test(static_cast<std::size_t>(topic)); }

  bool operator==(const Topics&) const = default;

 private:
  std::bitset<row_topics.size() + 1> chosen_;
};

/// Words with commas between them. `invalid_argument` for another word.
Result<Topics> parse_topics(std::string_view text);

/// ["leases","events"]
std::string json_of(const Topics& topics);

/// One frame. `data` is JSON on one line; without an id the client keeps the id of an earlier frame.
std::string frame(std::string_view name, std::string_view data, std::string_view id = {});

/// Keeps the connection alive: clients skip it.
inline constexpr std::string_view heartbeat_line = ":\n\n";

}  // namespace leasehold::serve
