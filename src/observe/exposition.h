// Writes metrics in the text format that Prometheus scrapes.
//
//   Exposition text;
//   text.family("leasehold_jobs", "gauge", "Jobs by queue and state.");
//   text.sample({{"queue", "mail"}, {"state", "available"}}, 3);
//   send(text.take(), Exposition::content_type);
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leasehold/time.h"

namespace leasehold::observe {

using Label = std::pair<std::string_view, std::string_view>;

/// The upper bounds of a histogram; the last bucket, without a bound, is added.
using Bounds = std::span<const Duration>;

/// Belongs to one thread.
class Exposition {
 public:
  static constexpr std::string_view content_type = "text/plain; version=0.0.4; charset=utf-8";

  /// Begins a metric: the samples that follow belong to it. `type` is counter, gauge or histogram.
  void family(std::string_view name, std::string_view type, std::string_view help);

  void sample(std::span<const Label> labels, std::int64_t value);
  void sample(std::span<const Label> labels, double value);
  void sample(std::initializer_list<Label> labels, std::int64_t value) { sample(as_span(labels), value); }
  void sample(std::initializer_list<Label> labels, double value) { sample(as_span(labels), value); }

  /// `counts` is the number of values in each bucket: an element for each bound, and one for values above the last.
  void histogram(std::span<const Label> labels, Bounds bounds, std::span<const std::int64_t> counts, Duration sum);

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  static std::span<const Label> as_span(std::initializer_list<Label> labels) { return {labels.begin(), labels.size()}; }
  void line(std::string_view suffix, std::span<const Label> labels, std::string_view value);

  std::string name_;
  std::string text_;
};

/// A duration in seconds, as short as it can be written: "0.005", "60".
std::string seconds_text(Duration span);

}  // namespace leasehold::observe
