#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <utility>

#include "leasehold/testing.h"
#include "store/store.h"

namespace leasehold {
namespace {

bool has_ended(JobState state) {
  return state == JobState::completed || state == JobState::failed || state == JobState::cancelled ||
         state == JobState::lapsed;
}

std::string listed(const std::vector<EnqueuedJob>& jobs) {
  constexpr std::size_t shown = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(jobs.size(), shown); ++i) text += "\n  " + to_string(jobs[i]);
  if (jobs.size() > shown) text += fmt::format("\n  and {} more", jobs.size() - shown);
  return text;
}

}  // namespace

Result<std::vector<EnqueuedJob>> enqueued(const Store& store, std::string_view queue) {
  std::vector<EnqueuedJob> unfinished;
  JobFilter filter{.queue = std::string(queue)};
  for (bool more = true; more;) {
    auto page = store.jobs().list(filter);
    if (!page) return std::move(page).error();
    for (auto& job : page->items) {
      if (has_ended(job.state)) continue;
      auto payload = store.jobs().payload(job.id);
      if (!payload) return std::move(payload).error();
      unfinished.push_back({{std::move(job)}, std::move(*payload)});
    }
    more = page->next.has_value();
    filter.page = page->next.value_or("");
  }
  std::reverse(unfinished.begin(), unfinished.end());
  return unfinished;
}

Result<EnqueuedJob> find_enqueued(const Store& store, std::string_view queue,
                                  const std::function<bool(const EnqueuedJob&)>& matches) {
  auto jobs = enqueued(store, queue);
  if (!jobs) return std::move(jobs).error();
  const auto found = std::find_if(jobs->begin(), jobs->end(), matches);
  if (found != jobs->end()) return std::move(*found);
  const auto where = queue.empty() ? std::string("the store") : fmt::format("queue {}", queue);
  return Error{.code = Errc::not_found,
               .message = jobs->empty() ? fmt::format("{} has no unfinished job", where)
                                        : fmt::format("no job of {} matches; it has{}", where, listed(*jobs))};
}

std::string to_string(const EnqueuedJob& job) {
  auto text = fmt::format("job {} of {}: {}", job.id, job.queue, leasehold::to_string(job.state));
  const auto add = [&text](std::string_view name, const std::string& value) {
    if (!value.empty()) text += fmt::format(", {} {}", name, value);
  };
  if (job.state == JobState::deferred && job.due_at) text += " until " + leasehold::to_string(*job.due_at);
  if (job.priority != 0) text += fmt::format(", priority {}", job.priority);
  add("dedupe key", job.dedupe_key);
  add("group", job.group);
  add("batch", job.batch);
  if (job.failures != 0) text += fmt::format(", failures {}", job.failures);
  if (job.crashes != 0) text += fmt::format(", crashes {}", job.crashes);
  return text + ": " + job.payload;
}

std::ostream& operator<<(std::ostream& out, const EnqueuedJob& job) { return out << to_string(job); }

std::ostream& operator<<(std::ostream& out, const WorkSummary& summary) {
  out << "claimed " << summary.claimed;
  const char* before = ": ";
  const auto add = [&](const char* name, std::int64_t count) {
    if (count != 0) out << std::exchange(before, ", ") << name << ' ' << count;
  };
  add("completed", summary.completed);
  add("failed", summary.failed);
  add("released", summary.released);
  add("snoozed", summary.snoozed);
  add("cancelled", summary.cancelled);
  add("lost", summary.lost);
  return out;
}

}  // namespace leasehold
