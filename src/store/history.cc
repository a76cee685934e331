// Past and present grants. The store keeps no table of them: the attempts of jobs are in their log, and for all other
// kinds the events tell how grants began and ended. A token is the microsecond in which its grant began.
#include "leasehold/history.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lease/answer.h"
#include "lease/page.h"
#include "model/described.h"
#include "storage/query.h"
#include "store/store.h"

namespace leasehold {
namespace {

constexpr std::string_view kinds[] = {"lock", "job", "chunk", "session", "item", "schedule"};
constexpr std::string_view beginnings[] = {"acquired", "claimed", "opened", "reclaimed", "transferred"};
constexpr std::string_view endings[] = {"released", "completed", "failed", "closed",   "expired",  "revoked",
                                        "lost",     "skipped",   "reset",  "switched", "exhausted"};
constexpr int events_per_page = 5'000;

template <typename List>
bool is_in(const List& list, std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

Timestamp begin_of(Token token) { return Timestamp(Duration(token.value)); }

/// Whether a grant of this kind hangs on a lease of that kind.
bool is_held_by(const GrantInfo& grant, const sql::LeaseLapses::Row& lease) {
  if (grant.kind == "item") return lease.kind == "session";
  if (grant.kind == "chunk") return lease.kind == "chunk" || lease.kind == "loader";
  return grant.kind == lease.kind;
}

using Key = std::tuple<std::string, std::string, Token>;

/// Grants from events, oldest event first.
class Grants {
 public:
  void add(const Event& event) {
    // The event of a chunk that is taken over has the token of the grant that ends.
    const bool ends_own = event.kind == "chunk" && event.what == "reclaimed";
    if (is_in(endings, event.what) || ends_own) {
      end(event, ends_own ? "expired" : event.what, ends_own ? event.previous_holder : event.holder);
    } else if (is_in(beginnings, event.what) && event.holder && event.token.value != 0) {
      if (event.previous_holder) end_previous(event);
      auto& grant = all_[{event.kind, event.key, event.token}];
      grant = {
          .kind = event.kind, .key = event.key, .holder = *event.holder, .detail = event.detail, .since = event.at};
    }
  }

  /// What is held now, also since before the first event.
  void add(const LeaseInfo& lease) {
    auto& grant = all_[{lease.kind, lease.key, lease.token}];
    if (grant.kind.empty()) grant = {.kind = lease.kind, .key = lease.key, .since = begin_of(lease.token)};
    grant.state = lease.state;
    grant.holder = lease.holder;
    grant.held_until = lease.expires_at;
  }

  /// A lease that expired: the grants end when it did, not when another process noticed.
  void add(const sql::LeaseLapses::Row& lapse) {
    for (auto& [key, grant] : all_) {
      const bool expired = grant.end_reason == "expired" || grant.end_reason == "lost";
      if (expired && grant.ended_at == lapse.ended_at && grant.holder.name == lapse.holder &&
          is_held_by(grant, lapse)) {
        grant.ended_at = std::min(lapse.expires_at, lapse.ended_at);
      }
    }
  }

  std::vector<GrantInfo> take() {
    std::vector<GrantInfo> grants;
    for (auto& [key, grant] : all_) grants.push_back(std::move(grant));
    return grants;
  }

 private:
  void end(const Event& event, std::string_view reason, const std::optional<Holder>& holder) {
    if (event.token.value == 0) return;
    auto& grant = all_[{event.kind, event.key, event.token}];
    if (grant.kind.empty()) {
      grant = {
          .kind = event.kind, .key = event.key, .holder = holder.value_or(Holder{}), .since = begin_of(event.token)};
    }
    if (grant.ended_at) return;
    grant.ended_at = event.at;
    grant.end_reason = reason;
    grant.end_detail = event.detail;
  }

  /// The holder before did not say that it had ended.
  void end_previous(const Event& event) {
    for (auto one = all_.lower_bound({event.kind, event.key, Token{}});
         one != all_.end() && one->second.kind == event.kind && one->second.key == event.key; ++one) {
      auto& grant = one->second;
      if (grant.ended_at || grant.holder.name != event.previous_holder->name) continue;
      grant.ended_at = event.at;
      grant.end_reason = event.what == "reclaimed" ? "expired" : event.what;
    }
  }

  std::map<Key, GrantInfo> all_;
};

GrantInfo grant_from(sql::JobHistory::Row& row) {
  GrantInfo grant{.kind = "job", .key = std::to_string(row.job_id), .since = begin_of({row.token})};
  grant.holder = lease::holder_in(row).value_or(Holder{});
  grant.held_until = row.held_until;
  grant.ended_at = row.ended_at && row.lapsed_at ? std::min(*row.ended_at, *row.lapsed_at) : row.ended_at;
  grant.end_reason = row.outcome.value_or("");
  grant.end_detail = row.why.value_or("");
  if (!row.ended_at) grant.state = LeaseState::running;
  return grant;
}

bool was_taken(const GrantInfo& grant) {
  return grant.ended_at &&
         (grant.end_reason == "expired" || grant.end_reason == "revoked" || grant.end_reason == "lost");
}

/// Says of each grant whether it took its key over. Orders the grants by key, the oldest first.
void tell_takeovers(std::vector<GrantInfo>& grants) {
  std::sort(grants.begin(), grants.end(), [](const GrantInfo& a, const GrantInfo& b) {
    return std::tie(a.kind, a.key, a.since) < std::tie(b.kind, b.key, b.since);
  });
  for (std::size_t i = 1; i < grants.size(); ++i) {
    const auto& before = grants[i - 1];
    auto& grant = grants[i];
    const bool follows = before.kind == grant.kind && before.key == grant.key && was_taken(before);
    if (!follows || *before.ended_at > grant.since) continue;
    grant.taken_from = before.holder;
    grant.gap = grant.since - *before.ended_at;
    const bool gone = before.end_reason != "revoked" && before.end_detail == "process gone";
    grant.cause = gone ? before.end_detail : before.end_reason;
  }
}

Result<void> read_jobs(lease::StoreCall call, const HistoryFilter& filter, std::int64_t max,
                       std::vector<GrantInfo>& grants) {
  if (!filter.kind.empty() && filter.kind != "job") return {};
  std::optional<std::int64_t> id;
  if (!filter.key.empty()) {
    const auto* end = filter.key.data() + filter.key.size();
    const auto read = std::from_chars(filter.key.data(), end, id.emplace());
    if (read.ec != std::errc() || read.ptr != end) return {};
  }
  const sql::JobHistory ask{.job_id = id, .since = filter.since.value_or(Timestamp{}), .max = max};
  auto rows = call.list(ask, grant_from);
  if (!rows) return std::move(rows).error();
  grants = std::move(*rows);
  return {};
}

/// The events of the filter, oldest first: those since its moment, as far as a history reads.
Result<std::vector<Event>> read_events(const Store& store, const HistoryFilter& filter) {
  std::vector<Event> events;
  EventFilter list{.key = filter.key, .max = events_per_page};
  do {
    auto page = store.events(list);
    if (!page) return std::move(page).error();
    events.insert(events.end(), std::make_move_iterator(page->items.rbegin()),
                  std::make_move_iterator(page->items.rend()));
    list.page = page->next.value_or("");
  } while (!list.page.empty() && events.size() < std::size_t{bounds::max_history} &&
           !(filter.since && events.back().at < *filter.since));
  std::reverse(events.begin(), events.end());
  return events;
}

Result<void> read_others(const Store& store, const HistoryFilter& filter, std::vector<GrantInfo>& into) {
  if (filter.kind == "job") return {};
  const auto wanted = [&](const auto& one) {
    return one.kind != "job" && (filter.kind.empty() || one.kind == filter.kind) &&
           (filter.key.empty() || one.key == filter.key);
  };
  auto events = read_events(store, filter);
  if (!events) return std::move(events).error();
  Grants grants;
  for (const auto& event : *events) {
    if (wanted(event)) grants.add(event);
  }
  auto held = store.leases({.max = bounds::max_history});
  if (!held) return std::move(held).error();
  for (const auto& lease : *held) {
    if (wanted(lease)) grants.add(lease);
  }
  const auto oldest = events->empty() ? Timestamp{} : events->front().at;
  auto lapses = store.impl().new_call().ask_rows(sql::LeaseLapses{.since = oldest});
  if (!lapses) return std::move(lapses).error();
  for (const auto& lapse : *lapses) grants.add(lapse);
  auto found = grants.take();
  into.insert(into.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
  return {};
}

}  // namespace

Result<Page<GrantInfo>> Store::history(const HistoryFilter& filter) const {
  if (auto checked = model::check_fields_of(filter); !checked) return std::move(checked).error();
  if (!filter.kind.empty() && !is_in(kinds, filter.kind)) {
    return Error{.code = Errc::invalid_argument,
                 .message = "the kind of a grant is lock, job, chunk, session, item or schedule"};
  }
  auto skip = lease::page_number(filter.page);
  if (!skip) return std::move(skip).error();
  std::vector<GrantInfo> grants;
  if (auto read = read_jobs(impl_->new_call(), filter, *skip + lease::rows_for(filter.max), grants); !read) {
    return std::move(read).error();
  }
  if (auto read = read_others(*this, filter, grants); !read) return std::move(read).error();
  tell_takeovers(grants);
  if (filter.since) {
    std::erase_if(grants, [&](const GrantInfo& grant) { return grant.ended_at && *grant.ended_at < *filter.since; });
  }
  std::stable_sort(grants.begin(), grants.end(),
                   [](const GrantInfo& a, const GrantInfo& b) { return a.since > b.since; });
  const auto shown = std::min(grants.size(), static_cast<std::size_t>(*skip));
  grants.erase(grants.begin(), grants.begin() + static_cast<std::ptrdiff_t>(shown));
  return lease::page_of(Result<std::vector<GrantInfo>>(std::move(grants)), filter.max, lease::counted(*skip));
}

}  // namespace leasehold
