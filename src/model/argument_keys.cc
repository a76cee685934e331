// The meaning of a key that a caller gives, where that differs from its meaning in an answer.
#include <algorithm>
#include <array>
#include <utility>

#include "model/keys.h"

namespace leasehold::model {
namespace {

using ArgumentMeaning = std::pair<std::string_view, std::string_view>;

/// By key.
constexpr auto meanings_of_arguments = std::to_array<ArgumentMeaning>({
    {"action", "what happens to each job: `cancel`, `retry` or `remove`"},
    {"after_id", "only events with a larger id"},
    {"backoff", "how long it waits after a failure: from `base_seconds`, doubled up to `max_seconds`"},
    {"batch", "the batch that the job belongs to"},
    {"create", "whether to add the item if it does not exist"},
    {"dedupe_for_seconds", "how long the dedupe key stays taken, also after the job has ended"},
    {"dedupe_mode", "what happens if an unfinished job has the dedupe key"},
    {"delay_seconds", "it runs after this time at the earliest"},
    {"dry_run", "only show what would happen"},
    {"ended", "also those that have ended"},
    {"enqueued_after", "only jobs that were enqueued at this moment or later"},
    {"enqueued_before", "only jobs that were enqueued before this moment"},
    {"expires_at", "if it was not started before this moment, it ends as lapsed"},
    {"expires_in_seconds", "if it was not started within this time, it ends as lapsed"},
    {"from_start", "exhausted chunks begin again, too, not at their cursor"},
    {"held_by", "only leases of this holder"},
    {"keep_failed_seconds", "how long failed jobs stay; 0: forever"},
    {"keep_history_seconds", "how long events, ended leases and the other history stay; 0: forever"},
    {"keep_jobs_seconds", "how long completed and cancelled jobs stay; 0: forever"},
    {"keep_waiting", "keep waiting after the set is final, for a reset or a new plan"},
    {"keys", "the keys of the chunks"},
    {"kind", "only leases of this kind: `lock`, `job`, `chunk`, `session`, `item`, `schedule` or `row`"},
    {"lock_delay_seconds", "how long its place stays taken after it expires or is revoked"},
    {"max", "at most so many"},
    {"max_age_seconds", "heartbeats keep the session up for at most this long"},
    {"next_run_in_seconds", "when the next run is due, counted from now"},
    {"now", "skip the check whether it is due; never the lease"},
    {"ok", "whether the run succeeded"},
    {"older_than_seconds", "only what is older than this"},
    {"on_batch_end", "the job runs when all jobs of this batch have ended"},
    {"only_held", "leave out what is free"},
    {"page", "the text `next` of the previous page; null: the first page"},
    {"prefix", "only names that begin with this"},
    {"preview", "only count the jobs that match"},
    {"released", "also sessions that were closed or ended"},
    {"request_id", "makes a repeated call harmless: the same id returns the first answer again"},
    {"retryable", "false: a retry would not help"},
    {"run_at", "when it runs, instead of a delay"},
    {"session_token", "the token of the session, which proves that it makes the call"},
    {"settings", "settings of the set"},
    {"share", "a share of the lock beside other shares, instead of the whole lock"},
    {"tag", "only jobs with this tag"},
    {"timeout_seconds", "how long an attempt may take; then it fails as timed out"},
    {"wait_seconds", "how long to wait; 0: try once"},
    {"which", "the chunks to reset"},
});

static_assert(std::is_sorted(meanings_of_arguments.begin(), meanings_of_arguments.end(),
                             [](const ArgumentMeaning& a, const ArgumentMeaning& b) { return a.first < b.first; }));

}  // namespace

std::string_view meaning_of_argument(const Field& field) {
  if (!field.meaning.empty()) return field.meaning;
  const auto found =
      std::lower_bound(meanings_of_arguments.begin(), meanings_of_arguments.end(), field.name,
                       [](const ArgumentMeaning& entry, std::string_view key) { return entry.first < key; });
  return found != meanings_of_arguments.end() && found->first == field.name ? found->second : meaning_of(field);
}

}  // namespace leasehold::model
