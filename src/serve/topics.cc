#include "serve/topics.h"

#include <fmt/format.h>

#include <algorithm>

namespace leasehold::serve {
namespace {

constexpr std::array<std::string_view, row_topics.size() + 1> words = {"leases", "queues",  "sessions", "schedules",
                                                                       "chunks", "workers", "events"};

Topic topic_at(std::size_t i) { return static_cast<Topic>(i); }

Topics all_topics() {
  Topics all;
  for (std::size_t i = 0; i < words.size(); ++i) all.add(topic_at(i));
  return all;
}

}  // namespace

std::string_view word_of(Topic topic) { return words.at(static_cast<std::size_t>(topic)); }

Result<Topics> parse_topics(std::string_view text) {
  if (text.empty()) return all_topics();
  Topics topics;
  while (true) {
    const auto comma = std::min(text.find(','), text.size());
    const auto* const found = std::find(words.begin(), words.end(), text.substr(0, comma));
    if (found == words.end()) {
      return Error{.code = Errc::invalid_argument,
                   .message = fmt::format("\"{}\" is no topic of the stream: choose from {}", text.substr(0, comma),
                                          fmt::join(words, ", "))};
    }
    topics.add(topic_at(static_cast<std::size_t>(found - words.begin())));
    if (comma == text.size()) return topics;
    text.remove_prefix(comma + 1);
  }
}

std::string json_of(const Topics& topics) {
  std::string text = "[";
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!topics.has(topic_at(i))) continue;
    text += fmt::format("{}\"{}\"", text.size() > 1 ? "," : "", words.at(i));
  }
  return text + "]";
}

std::string frame(std::string_view name, std::string_view data, std::string_view id) {
  return fmt::format("{}{}{}event: {}\ndata: {}\n\n", id.empty() ? "" : "id: ", id, id.empty() ? "" : "\n", name, data);
}

}  // namespace leasehold::serve
