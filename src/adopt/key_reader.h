// The keys of one table of a TOML file, read and checked one by one.
//
//   KeyReader keys("adopt.toml", "[public.sync_jobs]", table);
//   keys.text("order", order);
//   keys.refuse_others();
//   if (keys.error()) return keys.error();      // "adopt.toml:7: [public.sync_jobs]: unknown key "ordr": did you mean
//   order?"
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "adopt/description.h"
#include "base/text.h"
#include "base/time_text.h"
#include "base/toml.h"

namespace leasehold::adopt {

/// Reads the keys of one table of the file; remembers the first error.
class KeyReader {
 public:
  KeyReader(std::string file, std::string where, const toml::table& table)
      : file_(std::move(file)), where_(std::move(where)), table_(table) {}

  void fail(const toml::node& at, std::string_view what) {
    if (!error_) error_ = invalid(fmt::format("{}:{}: {}: {}", file_, line_of(at), where_, what));
  }
  void take_over(std::optional<Error> error) {
    if (error && !error_) error_ = std::move(error);
  }

  const toml::node* get(const std::string& key) {
    known_.push_back(key);
    return table_.get(key);
  }

  void text(const std::string& key, std::string& out) {
    const auto* node = get(key);
    if (node == nullptr) return;
    const auto* value = node->as_string();
    if (value == nullptr || trimmed(value->get()).empty()) return fail(*node, key + " must be a text");
    out = std::string(trimmed(value->get()));
  }

  void texts(const std::string& key, std::vector<std::string>& out) {
    const auto* node = get(key);
    if (node == nullptr) return;
    if (const auto* one = node->as_string()) return out.push_back(one->get());
    const auto* list = node->as_array();
    if (list == nullptr) return fail(*node, key + " must be a text or a list of texts");
    for (const auto& item : *list) {
      const auto* value = item.as_string();
      if (value == nullptr || value->get().empty()) return fail(item, key + " must be a list of texts");
      out.push_back(value->get());
    }
  }

  void duration(const std::string& key, Duration& out) {
    std::string value;
    text(key, value);
    if (!value.empty()) out = read_duration(key, value);
  }

  /// "10m-15m", or "10m" for both ends.
  void range(const std::string& key, Duration& least, Duration& most) {
    std::string value;
    text(key, value);
    if (value.empty()) return;
    const auto dash = value.find('-');
    least = read_duration(key, trimmed(value.substr(0, dash)));
    most = dash == std::string::npos ? least : read_duration(key, trimmed(value.substr(dash + 1)));
    if (most < least) fail(*table_.get(key), key + ": the first duration is the longer one");
  }

  /// { name = "SQL", … }
  void named(const std::string& key, std::vector<Named>& out) {
    const auto* node = get(key);
    if (node == nullptr) return;
    const auto* inner = node->as_table();
    if (inner == nullptr) return fail(*node, key + R"( must look like { name = "SQL" })");
    for (const auto& [name, value] : in_file_order(*inner)) {
      const auto* sql = value->as_string();
      if (sql == nullptr || trimmed(sql->get()).empty())
        return fail(*value, fmt::format("{}.{} must be SQL", key, name));
      out.emplace_back(name, std::string(trimmed(sql->get())));
    }
  }

  template <typename E, std::size_t N>
  void word(const std::string& key, E& out, const std::array<std::pair<std::string_view, E>, N>& words) {
    std::string value;
    text(key, value);
    if (value.empty()) return;
    std::string all;
    for (const auto& [name, meaning] : words) {
      if (name == value) {
        out = meaning;
        return;
      }
      all += (all.empty() ? "" : ", ") + std::string(name);
    }
    fail(*table_.get(key), fmt::format("{} must be one of {}", key, all));
  }

  /// A table within: { until = "…", … }; `read` gets its keys.
  void within(const std::string& key, const std::function<void(KeyReader&)>& read) {
    const auto* node = get(key);
    if (node == nullptr) return;
    const auto* inner = node->as_table();
    if (inner == nullptr) return fail(*node, key + " must be a table: { … }");
    KeyReader reader(file_, where_ + "." + key, *inner);
    read(reader);
    reader.refuse_others();
    take_over(reader.error());
  }

  /// A misspelt key explains more than a missing one, so this error counts last.
  void need(const std::string& key, const std::string& value) {
    if (value.empty() && !missing_) {
      missing_ = invalid(fmt::format("{}:{}: {}: the key {} is missing", file_, line_of(table_), where_, key));
    }
  }

  /// A key that no call has read is a mistake.
  void refuse_others() {
    for (const auto& [key, node] : in_file_order(table_)) {
      if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
      const auto close = nearest(key, known_);
      fail(*node, fmt::format("unknown key {}{}", leasehold::quoted(key),
                              close.empty() ? "" : ": did you mean " + close + "?"));
    }
  }

  [[nodiscard]] std::optional<Error> error() const { return error_ ? error_ : missing_; }
  [[nodiscard]] const toml::table& table() const { return table_; }

 private:
  Duration read_duration(const std::string& key, std::string_view value) {
    auto parsed = parse_duration(value);
    if (!parsed) {
      fail(*table_.get(key), fmt::format("{}: {}", key, parsed.error().message));
      return {};
    }
    return *parsed;
  }

  std::string file_;
  std::string where_;
  const toml::table& table_;
  std::vector<std::string> known_{};
  std::optional<Error> error_{};
  std::optional<Error> missing_{};
};

}  // namespace leasehold::adopt
