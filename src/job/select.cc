// Chooses jobs by a filter: for lists, for searches, and for acts on many of them.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <charconv>
#include <limits>

#include "job/jobs.h"
#include "lease/page.h"
#include "model/bounds.h"
#include "model/described.h"

namespace leasehold {

namespace job {
namespace {

/// Jobs in one statement of a search: between two, it looks at the clock.
constexpr std::int64_t search_slice = 500;

/// The ids that are left to look at.
struct Range {
  std::int64_t from_id = 0;
  std::int64_t before_id = std::numeric_limits<std::int64_t>::max();
};

Result<Range> range_of_times(lease::StoreCall& call, const JobFilter& filter) {
  const auto found =
      call.ask(sql::JobRange{.enqueued_after = filter.enqueued_after, .enqueued_before = filter.enqueued_before});
  if (!found) return found.error();
  return Range{found->from_id, found->before_id};
}

/// The range of a list: its page is the oldest job that was shown.
Result<Range> range_of(lease::StoreCall& call, const JobFilter& filter) {
  auto page = lease::page_number(filter.page);
  if (!page) return std::move(page).error();
  Range range;
  if (filter.enqueued_after || filter.enqueued_before) {
    auto times = range_of_times(call, filter);
    if (!times) return times;
    range = *times;
  }
  if (*page > 0) range.before_id = std::min(range.before_id, *page);
  return range;
}

/// The words of some states, as the statements take them.
using States = std::optional<std::string>;

States states_of(const JobFilter& filter) { return filter.state ? States(to_string(*filter.state)) : std::nullopt; }

bool has_completed(const States& states) { return !states || states->find("completed") != std::string::npos; }

/// A statement that selects jobs. It borrows the filter and the states.
template <typename Statement>
Statement selection(const JobFilter& filter, const States& states, const Range& range, std::int64_t max) {
  Statement statement;
  if (states) statement.states = *states;
  statement.queue = unless_empty(filter.queue);
  statement.tag = unless_empty(filter.tag);
  statement.job_group = unless_empty(filter.group);
  statement.dedupe_key = unless_empty(filter.dedupe_key);
  statement.batch = unless_empty(filter.batch);
  statement.enqueued_after = filter.enqueued_after;
  statement.enqueued_before = filter.enqueued_before;
  statement.from_id = range.from_id;
  statement.before_id = range.before_id;
  statement.max = max;
  return statement;
}

template <typename Statement>
Result<std::vector<JobId>> ask_ids(lease::StoreCall& call, const Statement& statement) {
  auto rows = call.ask_rows(statement);
  if (!rows) return std::move(rows).error();
  std::vector<JobId> ids;
  ids.reserve(rows->size());
  for (const auto& row : *rows) ids.push_back(row.id);
  return ids;
}

}  // namespace
}  // namespace job

Result<Page<JobInfo>> Jobs::list(const JobFilter& filter) const {
  if (auto checked = model::check_fields_of(filter); !checked) return std::move(checked).error();
  auto call = impl_->new_call();
  const auto range = job::range_of(call, filter);
  if (!range) return range.error();
  const auto states = job::states_of(filter);
  const auto statement = job::selection<sql::JobList>(filter, states, *range, lease::rows_for(filter.max));
  return lease::page_of(call.list(statement, job::job_info_from), filter.max,
                        [](const auto& shown) { return std::to_string(shown.back().id); });
}

// Search.
namespace job {
namespace {

/// A search for a text, slice by slice from the newest job to the oldest. Unfinished and failed jobs have an index;
/// otherwise it walks over all jobs, whatever their queues, and counts these.
class Search {
 public:
  Search(lease::StoreCall call, std::string_view text, const JobFilter& filter, Range range)
      : call_(call), text_(text), filter_(filter), states_(states_of(filter)), range_(range) {}

  Result<JobsFound> run() {
    const auto until = BootClock::now() + bounds::max_search_time;
    do {
      if (auto looked = look(); !looked) return std::move(looked).error();
    } while (!found_.complete && !is_full() && found_.scanned < bounds::max_jobs_searched && BootClock::now() < until);
    if (!found_.complete) found_.next = std::to_string(range_.before_id);
    if (auto filled = fill(); !filled) return std::move(filled).error();
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool is_full() const { return std::ssize(ids_) >= filter_.max; }

  /// One slice: which jobs, and which of them contain the text.
  Result<void> look() {
    Range slice = range_;
    std::int64_t jobs = 0;
    const bool walks = filter_.batch.empty() && has_completed(states_);
    if (walks) {
      const auto window =
          call_.ask(sql::JobWindow{.from_id = range_.from_id, .before_id = range_.before_id, .max = search_slice});
      if (!window) return window.error();
      slice.from_id = window->from_id;
      jobs = window->jobs;
    }
    const auto picked = ask_ids(call_, selection<sql::JobIds>(filter_, states_, slice, search_slice));
    if (!picked) return picked.error();
    if (!walks) jobs = std::ssize(*picked);
    found_.complete = jobs < search_slice;
    if (jobs == 0) return {};
    found_.scanned += jobs;
    range_.before_id = walks ? slice.from_id : picked->back();
    const auto hits = ask_ids(call_, sql::JobFind{.job_ids = *picked, .text = text_});
    if (!hits) return hits.error();
    for (const auto id : *hits) {
      if (is_full()) {
        range_.before_id = ids_.back();
        found_.complete = false;
        break;
      }
      ids_.push_back(id);
    }
    return {};
  }

  /// The jobs, and when the oldest one that was looked at was enqueued.
  Result<void> fill() {
    if (found_.scanned > 0) {
      const auto oldest =
          call_.ask(sql::JobWindow{.from_id = range_.before_id, .before_id = range_.before_id + 1, .max = 1});
      if (!oldest) return oldest.error();
      found_.oldest_scanned_at = oldest->oldest_at;
    }
    if (ids_.empty()) return {};
    auto items = call_.list(sql::JobInfos{.job_ids = ids_}, job_info_from);
    if (!items) return std::move(items).error();
    found_.items = std::move(*items);
    return {};
  }

  lease::StoreCall call_;
  std::string_view text_;
  const JobFilter& filter_;
  States states_;
  Range range_;
  std::vector<JobId> ids_;
  JobsFound found_;
};

}  // namespace
}  // namespace job

Result<JobsFound> Jobs::search(std::string_view text, const JobFilter& filter) const {
  if (text.empty()) return Error{.code = Errc::invalid_argument, .message = "there is no text to search for"};
  if (auto checked = check_text("text to search for", text); !checked) return std::move(checked).error();
  if (auto checked = model::check_fields_of(filter); !checked) return std::move(checked).error();
  auto call = impl_->new_call();
  const auto range = job::range_of(call, filter);
  if (!range) return range.error();
  return job::Search(call, text, filter, *range).run();
}

// Acts on many jobs.
namespace job {
namespace {

/// The states whose jobs an action changes; the words of the statements.
Result<std::string> states_for(JobAction action, const std::optional<JobState>& state) {
  constexpr std::string_view cancelled = "available,deferred,blocked,running,expired";
  constexpr std::string_view retried = "failed,cancelled,lapsed,deferred";
  constexpr std::string_view removed = "available,deferred,blocked,completed,failed,cancelled,lapsed";
  const auto all = action == JobAction::cancel ? cancelled : action == JobAction::retry ? retried : removed;
  if (!state) return std::string(action == JobAction::retry ? "failed" : all);
  if (all.find(to_string(*state)) != std::string_view::npos) return std::string(to_string(*state));
  return Error{.code = Errc::invalid_argument,
               .message = fmt::format("cannot {} jobs that are {}: only those that are {}", to_string(action),
                                      to_string(*state), all)};
}

/// The page of such an act: the range of ids that is left, "1-4242". The first call fixes its end.
Result<Range> range_of_page(lease::StoreCall& call, const JobFilter& filter) {
  if (filter.page.empty()) return range_of_times(call, filter);
  Range range;
  const auto* end = filter.page.data() + filter.page.size();
  const auto from = std::from_chars(filter.page.data(), end, range.from_id);
  if (from.ec == std::errc() && from.ptr != end && *from.ptr == '-') {
    const auto before = std::from_chars(from.ptr + 1, end, range.before_id);
    if (before.ec == std::errc() && before.ptr == end) return range;
  }
  return Error{.code = Errc::invalid_argument,
               .message = quoted(filter.page) + " is not a page: pass the `next` of the previous page"};
}

std::string page_text(const Range& range) { return fmt::format("{}-{}", range.from_id, range.before_id); }

/// One batch: the jobs that match, and what is left after them.
struct Chosen {
  std::vector<JobId> ids;
  std::optional<std::string> next;
};

/// The oldest jobs first.
Result<Chosen> pick_retries(lease::StoreCall& call, const JobFilter& filter, const States& states, Range range,
                            std::int64_t size) {
  auto ids = ask_ids(call, selection<sql::JobRetryable>(filter, states, range, size + 1));
  if (!ids) return std::move(ids).error();
  Chosen batch{std::move(*ids), {}};
  if (std::ssize(batch.ids) > size) {
    batch.next = page_text({batch.ids.back(), range.before_id});
    batch.ids.pop_back();
  }
  return batch;
}

/// The newest jobs first. Completed jobs have no index: then it walks over a part of all jobs.
Result<Chosen> pick(lease::StoreCall& call, const JobFilter& filter, const States& states, Range range,
                    std::int64_t size) {
  Range part = range;
  Chosen batch;
  if (filter.batch.empty() && has_completed(states)) {
    const auto window = call.ask(
        sql::JobWindow{.from_id = range.from_id, .before_id = range.before_id, .max = bounds::max_jobs_searched});
    if (!window) return window.error();
    part.from_id = window->from_id;
    if (window->jobs == bounds::max_jobs_searched) batch.next = page_text({range.from_id, part.from_id});
  }
  auto ids = ask_ids(call, selection<sql::JobIds>(filter, states, part, size + 1));
  if (!ids) return std::move(ids).error();
  batch.ids = std::move(*ids);
  if (std::ssize(batch.ids) > size) {
    batch.ids.pop_back();
    batch.next = page_text({range.from_id, batch.ids.back()});
  }
  return batch;
}

template <typename Statement>
Result<std::int64_t> ask_changed(lease::StoreCall& call, const Statement& statement) {
  auto answer = call.ask(statement);
  if (!answer) return std::move(answer).error();
  return answer->changed;
}

/// A job can start again once its predecessor has: SQLite decides for all of a call at once, and needs another call.
Result<std::int64_t> retry_all(lease::StoreCall& call, const std::vector<JobId>& ids, std::string_view states) {
  std::int64_t total = 0;
  for (;;) {
    const auto changed = ask_changed(call, sql::JobRetryMany{.job_ids = ids, .states = states});
    if (!changed) return changed.error();
    total += *changed;
    if (*changed == 0 || total >= std::ssize(ids)) return total;
  }
}

Result<std::int64_t> change(lease::StoreCall& call, const JobBulk& bulk, const std::vector<JobId>& ids,
                            std::string_view states) {
  if (ids.empty()) return 0;
  if (bulk.action == JobAction::retry) return retry_all(call, ids, states);
  if (bulk.action == JobAction::remove) return ask_changed(call, sql::JobRemoveMany{.job_ids = ids, .states = states});
  sql::JobCancelMany statement{.job_ids = ids, .states = states};
  if (!bulk.reason.empty()) statement.reason = bulk.reason;
  return ask_changed(call, statement);
}

}  // namespace
}  // namespace job

Result<JobsChanged> Jobs::bulk(const JobBulk& bulk) const {
  const auto& filter = bulk.filter;
  if (auto checked = model::check_fields_of(bulk); !checked) return std::move(checked).error();
  if (filter.max > bounds::max_bulk) {
    return Error{.code = Errc::invalid_argument,
                 .message = fmt::format("max is {}: one call changes up to {} jobs", filter.max, bounds::max_bulk)};
  }
  const auto states = job::states_for(bulk.action, filter.state);
  if (!states) return states.error();
  auto call = impl_->new_call();
  const auto range = job::range_of_page(call, filter);
  if (!range) return range.error();
  const auto choose = bulk.action == JobAction::retry ? job::pick_retries : job::pick;
  auto batch = choose(call, filter, *states, *range, bulk.preview ? bounds::max_bulk_counted : filter.max);
  if (!batch) return std::move(batch).error();
  JobsChanged changed{.matched = std::ssize(batch->ids), .next = std::move(batch->next)};
  if (bulk.preview) return changed;
  const auto done = job::change(call, bulk, batch->ids, *states);
  if (!done) return done.error();
  changed.changed = *done;
  changed.skipped = changed.matched - changed.changed;
  return changed;
}

}  // namespace leasehold
