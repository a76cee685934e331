// The backlog: items to work on.
#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "lease/call.h"
#include "lease/page.h"
#include "lease/reap.h"
#include "model/bounds.h"
#include "model/described.h"
#include "model/words.h"
#include "session/sessions.h"
#include "storage/query.h"

namespace leasehold {
namespace session {
namespace {

ItemInfo item_from(sql::ItemList::Row& row) {
  auto owner = row.session_id ? std::optional(owner_from(row, row.key)) : std::nullopt;
  auto info = std::move(row).as<ItemInfo, 3>();
  if (owner) {
    if (info.state != ItemState::claimed) owner->state = LeaseState::expired;
    if (info.state == ItemState::claimed && owner->state != LeaseState::running) {
      info.state = info.waits_for.empty() ? ItemState::stale : ItemState::blocked;
    }
  }
  info.held_by = std::move(owner);
  if (info.state == ItemState::claimed) info.session = info.held_by->session;
  return info;
}

/// Collects items that are `recorded` for the store and `wanted` here, page by page: only this host knows which of its
/// processes are gone, so the store cannot count them.
Result<void> collect(storage::Backend& backend, sql::ItemList page, ItemState recorded, ItemState wanted,
                     std::size_t limit, BootTime deadline, std::vector<ItemInfo>& found) {
  page.state = to_string(recorded);
  // Most of a page may be of the other kind: small pages would take many requests.
  page.max = std::max<std::int64_t>(page.max, 1000);
  std::string last;
  for (const auto enough = found.size() + limit; found.size() < enough;) {
    auto items = storage::query_list(backend, page, deadline, item_from);
    if (!items) return std::move(items).error();
    const bool is_last = items->size() < static_cast<std::size_t>(page.max);
    if (!items->empty()) last = items->back().key;
    for (auto& item : *items) {
      if (item.state == wanted && found.size() < enough) found.push_back(std::move(item));
    }
    if (is_last) return {};
    page.after_key = last;
  }
  return {};
}

Error add_refusal(const sql::ItemAdd::Row& answer, std::string_view key) {
  const auto what = describe_item(key);
  const auto why = answer.why.value_or("");
  const auto other = describe_item(answer.other.value_or(""));
  if (answer.outcome.refusal() == Errc::not_found) {
    return {.code = Errc::not_found,
            .message = fmt::format("{}, {} of {}, does not exist: add it first", other,
                                   why == "parent"     ? "the parent"
                                   : why == "conflict" ? "a conflict"
                                                       : "a dependency",
                                   what)};
  }
  if (answer.outcome.is(Reply::invalid) && why == "cycle") {
    return {.code = Errc::invalid_argument,
            .message = fmt::format("{} cannot be the parent of {}: it is below it", other, what)};
  }
  if (answer.outcome.is(Reply::invalid) && why == "dependency") {
    return {.code = Errc::invalid_argument,
            .message =
                fmt::format("{} cannot depend on {}, which is or depends on it: no session could begin", what, other)};
  }
  if (answer.outcome.is(Reply::invalid)) {
    return {.code = Errc::invalid_argument, .message = fmt::format("{} cannot be added: {}", what, why)};
  }
  return odd_answer(what, answer.outcome.word());
}

}  // namespace
}  // namespace session

Result<bool> Items::add(std::string_view key, const ItemOptions& options) const {
  if (auto checked = check_item(key, options); !checked) return std::move(checked).error();
  std::vector<std::string_view> conflicts;
  if (options.conflicts) conflicts.assign(options.conflicts->begin(), options.conflicts->end());
  std::vector<std::string_view> depends_on;
  if (options.depends_on) depends_on.assign(options.depends_on->begin(), options.depends_on->end());
  const auto self = Holder::self();
  sql::ItemAdd statement{.key = key,
                         .title = options.title,
                         .parent = options.parent,
                         .metadata = options.metadata,
                         .conflicts = conflicts,
                         .set_conflicts = options.conflicts.has_value(),
                         .depends_on = depends_on,
                         .set_depends_on = options.depends_on.has_value(),
                         .priority = options.priority};
  if (options.note && !options.note->empty()) statement.note = *options.note;
  statement.author = options.author.empty() ? self.name : options.author;
  // Not repeated if the answer was lost: adding again does no harm, but would report that the item existed before.
  auto answer = impl_->new_call().ask_until_free(statement);
  if (!answer) return std::move(answer).error();
  if (answer->outcome.is(Reply::created)) return true;
  if (answer->outcome.is(Reply::updated)) return false;
  return session::add_refusal(*answer, key);
}

Result<ItemInfo> Items::show(std::string_view key) const {
  if (auto checked = check_name("item key", key); !checked) return std::move(checked).error();
  sql::ItemList statement{.key = key};
  statement.max = 1;
  auto items = impl_->new_call().list(statement, session::item_from);
  if (!items) return std::move(items).error();
  if (items->empty()) return session::no_such_item(key);
  auto item = std::move(items->front());
  if (item.note_count == 0) return item;
  auto notes = impl_->new_call().list(sql::ItemNotes{.key = key},
                                      [](sql::ItemNotes::Row& row) { return std::move(row).as<ItemNote>(); });
  if (!notes) return std::move(notes).error();
  item.notes = std::move(*notes);
  item.note_count = std::ssize(item.notes);
  return item;
}

Result<Page<ItemInfo>> Items::list(const ItemFilter& filter) const {
  if (auto checked = model::check_fields_of(filter); !checked) return std::move(checked).error();
  sql::ItemList statement{.key = std::nullopt};
  if (!filter.parent.empty()) statement.parent = filter.parent;
  if (!filter.page.empty()) statement.after_key = filter.page;
  statement.max = lease::rows_for(filter.max);
  const auto last_key = [](const auto& shown) { return shown.back().key; };
  if (filter.state && *filter.state != ItemState::open && *filter.state != ItemState::done) {
    return lease::page_of(impl_->list_as_seen_here(statement, *filter.state), filter.max, last_key);
  }
  if (filter.state) statement.state = to_string(*filter.state);
  return lease::page_of(impl_->new_call().list(statement, session::item_from), filter.max, last_key);
}

Result<std::vector<ItemInfo>> Items::Impl::list_as_seen_here(const sql::ItemList& page, ItemState wanted) const {
  const auto limit = static_cast<std::size_t>(page.max);
  std::vector<ItemInfo> found;
  for (const auto recorded : {ItemState::claimed, ItemState::stale, ItemState::blocked}) {
    if (recorded != ItemState::claimed && wanted != recorded) continue;
    auto collected = session::collect(*backend, page, recorded, wanted, limit, deadline(), found);
    if (!collected) return std::move(collected).error();
  }
  std::sort(found.begin(), found.end(), [](const ItemInfo& a, const ItemInfo& b) { return a.key < b.key; });
  if (found.size() > limit) found.erase(found.begin() + static_cast<std::ptrdiff_t>(limit), found.end());
  return found;
}

Result<void> Items::done(std::string_view key, std::optional<Token> token) const {
  return done(key, ItemDoneOptions{.token = token});
}

Result<void> Items::done(std::string_view key, const ItemDoneOptions& options) const {
  if (auto checked = check_name("item key", key); !checked) return checked;
  if (auto checked = model::check_fields_of(options); !checked) return checked;
  if (!options.session.empty() && !options.session_token && !options.token) {
    return Error{.code = Errc::invalid_argument,
                 .message = session::describe_session(options.session) + " proves with its token that it ends " +
                            session::describe_item(key) + ": pass both, or the token of the claim"};
  }
  const auto self = Holder::self();
  sql::ItemDone statement{.key = key};
  if (options.token) statement.token = options.token->value;
  statement.holder = self.name;
  if (options.session_token) {
    statement.session_id = options.session;
    statement.session_token = options.session_token->value;
  }
  if (!options.note.empty()) statement.note = options.note;
  auto call = impl_->new_call();
  auto answer = lease::ask_past_dead_holders(call, [&] { return call.ask_again(statement); });
  if (!answer) return std::move(answer).error();
  if (answer->outcome.done()) return {};
  return session::claim_refusal(*answer, key, options.session);
}

Result<void> Items::note(std::string_view key, std::string_view text, std::string_view author) const {
  if (auto checked = check_name("item key", key); !checked) return checked;
  if (auto checked = check_text("note", text); !checked) return checked;
  if (text.empty()) return Error{.code = Errc::invalid_argument, .message = "the note is empty"};
  if (!author.empty()) {
    if (auto checked = check_name("author", author); !checked) return checked;
  }
  const auto self = Holder::self();
  const sql::ItemNote statement{.key = key, .text = text, .author = author.empty() ? self.name : author};
  auto answer = impl_->new_call().ask_until_free(statement);
  if (!answer) return std::move(answer).error();
  if (answer->outcome.done()) return {};
  return session::no_such_item(key);
}

Result<void> Items::reopen(std::string_view key) const {
  if (auto checked = check_name("item key", key); !checked) return checked;
  const sql::ItemReopen statement{.key = key};
  auto answer = impl_->new_call().ask_until_free(statement);
  if (!answer) return std::move(answer).error();
  if (answer->outcome.done()) return {};
  if (answer->outcome.refusal() == Errc::not_found) return session::no_such_item(key);
  return session::odd_answer(session::describe_item(key), answer->outcome.word());
}

Result<void> Items::remove(std::string_view key) const {
  if (auto checked = check_name("item key", key); !checked) return checked;
  const sql::ItemRemove statement{.key = key};
  auto call = impl_->new_call();
  auto answer = lease::ask_past_dead_holders(call, [&] { return call.ask_until_free(statement); });
  if (!answer) return std::move(answer).error();
  if (answer->outcome.done()) return {};
  return session::claim_refusal(*answer, key);
}

}  // namespace leasehold
