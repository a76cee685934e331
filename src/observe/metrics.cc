#include "observe/metrics.h"

#include <algorithm>
#include <mutex>

namespace leasehold::observe {
namespace {

constexpr std::string_view other = "other";

}  // namespace

void Latency::add(Duration took) {
  const auto* const bound = std::lower_bound(latency_bounds.begin(), latency_bounds.end(), took);
  counts_.at(static_cast<std::size_t>(bound - latency_bounds.begin())).fetch_add(1, std::memory_order_relaxed);
  sum_us_.fetch_add(took.count(), std::memory_order_relaxed);
}

void Latency::write(Exposition& text, std::span<const Label> labels) const {
  std::array<std::int64_t, latency_bounds.size() + 1> counts{};
  for (std::size_t i = 0; i < counts.size(); ++i) counts.at(i) = counts_.at(i).load(std::memory_order_relaxed);
  text.histogram(labels, latency_bounds, counts, Duration(sum_us_.load(std::memory_order_relaxed)));
}

void Calls::add(std::string_view name, std::string_view outcome, Duration took) {
  const auto count = [&took](Named& named, std::atomic<std::int64_t>& outcomes) {
    outcomes.fetch_add(1, std::memory_order_relaxed);
    named.latency.add(took);
  };
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = named_.find(name); found != named_.end()) {
      auto& outcomes = found->second->outcomes;
      if (const auto known = outcomes.find(outcome); known != outcomes.end()) {
        count(*found->second, known->second);
        return;
      }
    }
  }
  const std::unique_lock lock(mutex_);
  const bool fits = named_.contains(name) || named_.size() < max_label_values;
  auto& named = named_[std::string(fits ? name : other)];
  if (!named) named = std::make_unique<Named>();
  const bool outcome_fits = named->outcomes.contains(outcome) || named->outcomes.size() < max_label_values;
  count(*named, named->outcomes[std::string(outcome_fits ? outcome : other)]);
}

void Calls::write(Exposition& text, std::string_view name, std::string_view label, std::string_view help) const {
  const std::shared_lock lock(mutex_);
  text.family(std::string(name) + "_total", "counter", std::string(help) + ", by outcome.");
  for (const auto& [its_name, named] : named_) {
    for (const auto& [outcome, total] : named->outcomes) {
      text.sample({{label, its_name}, {"outcome", outcome}}, total.load(std::memory_order_relaxed));
    }
  }
  text.family(std::string(name) + "_duration_seconds", "histogram", std::string(help) + ": how long they took.");
  for (const auto& [its_name, named] : named_) {
    const std::array<Label, 1> labels = {Label{label, its_name}};
    named->latency.write(text, labels);
  }
}

void ProcessMetrics::request(int status, Duration took) {
  const auto index = static_cast<std::size_t>(std::clamp(status / 100, 1, 5) - 1);
  by_class_.at(index).fetch_add(1, std::memory_order_relaxed);
  requests_.add(took);
}

void ProcessMetrics::write_totals(Exposition& text) const {
  static constexpr std::array<std::string_view, 5> classes = {"1xx", "2xx", "3xx", "4xx", "5xx"};
  text.family("leasehold_http_requests_total", "counter", "HTTP requests that were answered, by class of status.");
  for (std::size_t i = 0; i < classes.size(); ++i) text.sample({{"status", classes.at(i)}}, by_class_.at(i).load());
  text.family("leasehold_http_request_duration_seconds", "histogram", "How long HTTP requests took.");
  requests_.write(text, {});
  const auto total = [&text](std::string_view name, std::string_view help, const std::atomic<std::int64_t>& value) {
    text.family(name, "counter", help);
    text.sample({}, value.load());
  };
  total("leasehold_sse_messages_total", "Messages sent to live streams.", sse_messages);
  total("leasehold_sse_resets_total", "Live streams that fell too far behind and began again.", sse_resets);
  total("leasehold_refused_logins_total", "Requests with a wrong or expired API token.", refused_logins);
}

void ProcessMetrics::write_gauges(Exposition& text) const {
  const auto gauge = [&text](std::string_view name, std::string_view help, const std::atomic<std::int64_t>& value) {
    text.family(name, "gauge", help);
    text.sample({}, value.load());
  };
  gauge("leasehold_http_connections", "Open HTTP connections.", connections);
  gauge("leasehold_http_requests_in_progress", "HTTP requests that are not answered yet.", requests_now);
  gauge("leasehold_waiting_acts", "Acts that wait for something to be free.", waiting_acts);
  gauge("leasehold_sse_clients", "Open live streams.", sse_clients);
}

std::string ProcessMetrics::text() const {
  Exposition text;
  acts_.write(text, "leasehold_acts", "act", "Acts that this process performed");
  mcp_.write(text, "leasehold_mcp_calls", "tool", "Calls of coding agents");
  write_totals(text);
  write_gauges(text);
  write_kernel_metrics(text);
  return text.take();
}

ProcessMetrics& process() {
  static ProcessMetrics metrics;
  return metrics;
}

std::string process_metrics() { return process().text(); }

}  // namespace leasehold::observe
