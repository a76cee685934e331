// Events: lists, and readers that follow them.
#include "leasehold/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "lease/answer.h"
#include "lease/page.h"
#include "model/bounds.h"
#include "model/described.h"
#include "storage/query.h"
#include "store/store.h"

namespace leasehold {
namespace {

template <typename Row>
Event event_from(Row& row) {
  auto holder = lease::holder_in(row);
  auto previous = lease::holder_named(std::move(row.previous_holder));
  auto event = std::move(row).template as<Event, 3>();
  event.holder = std::move(holder);
  event.previous_holder = std::move(previous);
  return event;
}

std::optional<std::string_view> unless_empty(const std::string& key) {
  return key.empty() ? std::nullopt : std::optional<std::string_view>(key);
}

}  // namespace

Result<Page<Event>> Store::events(const EventFilter& filter) const {
  if (auto checked = model::check_fields_of(filter); !checked) return std::move(checked).error();
  auto before_id = lease::page_number(filter.page);
  if (!before_id) return std::move(before_id).error();
  const sql::EventList list{.after_id = filter.after_id,
                            .before_id = *before_id > 0 ? std::optional(*before_id) : std::nullopt,
                            .only_key = unless_empty(filter.key),
                            .max = lease::rows_for(filter.max)};
  auto rows = impl_->new_call().ask_rows(list);
  if (!rows) return std::move(rows).error();
  Page<Event> page;
  // The oldest event comes first: it is the one too many.
  const bool more = rows->size() > static_cast<std::size_t>(filter.max);
  if (more) rows->erase(rows->begin());
  for (auto& row : *rows) page.items.push_back(event_from(row));
  if (more) page.next = std::to_string(page.front().id);
  return page;
}

std::string to_string(const EventMark& mark) {
  return std::to_string(mark.transaction_id) + "-" + std::to_string(mark.id);
}

Result<EventMark> parse_event_mark(std::string_view text) {
  EventMark mark;
  const auto* const end = text.data() + text.size();
  auto read = std::from_chars(text.data(), end, mark.transaction_id);
  if (read.ec == std::errc() && read.ptr != end && *read.ptr == '-') {
    read = std::from_chars(read.ptr + 1, end, mark.id);
    if (read.ec == std::errc() && read.ptr == end && mark >= EventMark{} && mark.id >= 0) return mark;
  }
  return Error{.code = Errc::invalid_argument,
               .message = fmt::format(R"("{}" is not a mark: copy the `mark` of an event, such as "742-0")", text)};
}

/// Each scan reads what one snapshot shows and the snapshot of the scan before did not.
struct EventReader::Impl {
  std::shared_ptr<Store::Impl> store;
  std::string key;
  int max;
  EventMark mark;                    ///< everything below has been returned
  std::optional<std::string> seen;   ///< the snapshot of the last complete scan
  std::optional<std::string> until;  ///< the snapshot of a scan that has pages left
  EventMark horizon;                 ///< of `until`: nothing can appear below
  EventMark position;                ///< of the last page

  Result<void> begin_scan() {
    auto now = store->new_call().ask(sql::EventHorizon{});
    if (!now) return std::move(now).error();
    until = std::move(now->snapshot);
    horizon = {.transaction_id = now->transaction_id, .id = now->id};
    // The store is an older copy, so its numbers begin again: read everything.
    if (horizon < mark) {
      mark = {};
      seen.reset();
    }
    position = mark;
    return {};
  }

  void end_scan() {
    mark = horizon;
    seen = std::exchange(until, std::nullopt);
  }
};

EventReader::EventReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EventReader::EventReader(EventReader&&) noexcept = default;
EventReader& EventReader::operator=(EventReader&&) noexcept = default;
EventReader::~EventReader() = default;

EventMark EventReader::mark() const { return impl_->mark; }

Result<std::vector<Event>> EventReader::next() {
  auto& my = *impl_;
  if (!my.until) {
    if (auto begun = my.begin_scan(); !begun) return std::move(begun).error();
  }
  const sql::EventNew page{.transaction_id = my.position.transaction_id,
                           .id = my.position.id,
                           .seen = my.seen,
                           .until = *my.until,
                           .only_key = unless_empty(my.key),
                           .max = my.max};
  auto rows = my.store->new_call().ask_rows(page);
  if (!rows) return std::move(rows).error();
  const auto before = to_string(my.mark);
  if (rows->size() < static_cast<std::size_t>(my.max)) {
    my.end_scan();
  } else {
    my.position = {.transaction_id = rows->back().transaction_id, .id = rows->back().id};
    my.mark = std::min(my.position, my.horizon);
  }
  std::vector<Event> events;
  for (auto& row : *rows) events.push_back(event_from(row));
  // The rows are in the order of transactions; ids are drawn after a wait for a row, so they show what came first.
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.id < b.id; });
  for (auto& event : events) event.mark = before;
  if (!events.empty()) events.back().mark = to_string(my.mark);
  return events;
}

Result<EventReader> Store::follow_events(const FollowOptions& options) const {
  if (auto checked = check_text("key", options.key); !checked) return std::move(checked).error();
  if (auto checked = check_list_max(options.max); !checked) return std::move(checked).error();
  auto made = std::make_unique<EventReader::Impl>(EventReader::Impl{.store = impl_,
                                                                    .key = options.key,
                                                                    .max = options.max,
                                                                    .mark = options.after.value_or(EventMark{}),
                                                                    .seen = {},
                                                                    .until = {},
                                                                    .horizon = {},
                                                                    .position = {}});
  if (!options.after) {
    if (auto begun = made->begin_scan(); !begun) return std::move(begun).error();
    made->end_scan();
  }
  return EventReader(std::move(made));
}

}  // namespace leasehold
