// The numbers of a store as Prometheus reads them.
#include <array>
#include <string_view>

#include "observe/metrics.h"

namespace leasehold::observe {
namespace {

struct LabelOf {
  std::string_view name;
  std::string StoreCount::*value;
};

constexpr LabelOf kind{"kind", &StoreCount::kind};
constexpr LabelOf queue{"queue", &StoreCount::queue};
constexpr LabelOf set{"set", &StoreCount::set};
constexpr LabelOf schedule{"schedule", &StoreCount::schedule};
constexpr LabelOf state{"state", &StoreCount::state};
constexpr LabelOf cause{"cause", &StoreCount::cause};
constexpr LabelOf reason{"reason", &StoreCount::reason};
constexpr LabelOf outcome{"outcome", &StoreCount::outcome};
constexpr LabelOf nothing{"", nullptr};

struct Family {
  std::string_view name;
  std::string_view type;
  std::string_view help;
  std::vector<StoreCount> StoreMetrics::*counts;
  LabelOf first;
  LabelOf second;
};

constexpr Family families[] = {
    {"leasehold_leases", "gauge", "Leases that have not ended, by kind and state.", &StoreMetrics::leases, kind, state},
    {"leasehold_jobs", "gauge", "Unfinished, failed and lapsed jobs, by queue and state.", &StoreMetrics::jobs, queue,
     state},
    {"leasehold_workers", "gauge", "Open workers that listen to a queue.", &StoreMetrics::workers, queue, nothing},
    {"leasehold_chunks", "gauge", "Chunks by set and state.", &StoreMetrics::chunks, set, state},
    {"leasehold_sessions", "gauge", "Open sessions by state.", &StoreMetrics::sessions, state, nothing},
    {"leasehold_grants_total", "counter", "Leases that were granted; of jobs, attempts that ended.",
     &StoreMetrics::grants, kind, nothing},
    {"leasehold_takeovers_total", "counter", "Leases that the store took from their holders, by cause.",
     &StoreMetrics::takeovers, kind, cause},
    {"leasehold_leases_ended_total", "counter", "Leases that ended, by reason.", &StoreMetrics::ended, kind, reason},
    {"leasehold_job_attempts_total", "counter", "Attempts of jobs that ended, by outcome.", &StoreMetrics::attempts,
     queue, outcome},
    {"leasehold_jobs_finished_total", "counter", "Jobs that finished, by outcome.", &StoreMetrics::finished, queue,
     outcome},
    {"leasehold_schedule_runs_total", "counter", "Occurrences of schedules, by outcome.", &StoreMetrics::schedule_runs,
     schedule, outcome},
};

void write(Exposition& text, const StoreMetrics& metrics, const Family& family) {
  text.family(family.name, family.type, family.help);
  for (const auto& count : metrics.*family.counts) {
    const std::array<Label, 2> labels = {
        Label{family.first.name, count.*family.first.value},
        family.second.value == nullptr ? Label{} : Label{family.second.name, count.*family.second.value}};
    text.sample(std::span(labels).first(family.second.value == nullptr ? 1 : 2), count.count);
  }
}

void write_spans(Exposition& text, std::string_view name, std::string_view help, const std::vector<StoreSpan>& spans) {
  text.family(name, "gauge", help);
  for (const auto& span : spans) {
    const auto label = span.queue.empty() ? Label{"schedule", span.schedule} : Label{"queue", span.queue};
    text.sample({label}, std::chrono::duration<double>(span.span).count());
  }
}

void write_histograms(Exposition& text, std::string_view name, std::string_view help,
                      const std::vector<StoreHistogram>& histograms) {
  text.family(name, "histogram", help);
  for (const auto& one : histograms) {
    const std::array<Label, 1> labels = {Label{"queue", one.queue}};
    text.histogram(labels, histogram_bounds, one.buckets, one.sum);
  }
}

}  // namespace

std::string text_of(const StoreMetrics& metrics) {
  Exposition text;
  for (const auto& family : families) write(text, metrics, family);
  write_spans(text, "leasehold_oldest_waiting_job_seconds", "How long ago the oldest available job was enqueued.",
              metrics.oldest_waiting);
  write_spans(text, "leasehold_schedule_lag_seconds", "For how long the next run of a schedule has been due.",
              metrics.schedule_lag);
  write_histograms(text, "leasehold_job_wait_seconds", "From the enqueue of a job to its first claim.", metrics.waits);
  write_histograms(text, "leasehold_job_run_seconds", "From the claim of a job to the end of the attempt.",
                   metrics.runs);
  text.family("leasehold_store_clock_seconds", "gauge", "The clock of the store, since 1970.");
  text.sample({}, std::chrono::duration<double>(metrics.store_now.time_since_epoch()).count());
  return text.take();
}

Result<std::string> store_metrics_text(const Store& store) {
  auto metrics = store.metrics();
  if (!metrics) return std::move(metrics).error();
  return text_of(*metrics);
}

}  // namespace leasehold::observe
