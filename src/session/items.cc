// The backlog: what there is to work on.
#include <fmt/format.h>

#include "base/json_list.h"
#include "base/names.h"
#include "base/text.h"
#include "core/limits.h"
#include "core/session_limits.h"
#include "lease/past_dead_holders.h"
#include "lease/retry.h"
#include "session/answer.h"
#include "session/impl.h"
#include "session/owner.h"
#include "storage/query.h"

namespace leasehold {
namespace session {
namespace {

ItemInfo item_from(sql::ItemList::Row& row) {
  ItemInfo info;
  info.state = item_state_from(row.state).value_or(ItemState::open);
  if (row.session_id) {
    info.owner = owner_from(row, row.key);
    info.owner->state = info.state == ItemState::claimed ? LeaseState::running : LeaseState::expired;
  }
  info.key = std::move(row.key);
  info.title = std::move(row.title);
  info.parent = std::move(row.parent).value_or("");
  info.metadata = std::move(row.metadata);
  info.conflicts = texts_from_json(row.conflicts);
  info.is_working_on = row.is_working_on;
  info.active_session_id = std::move(row.active_session_id).value_or("");
  info.token = {row.token};
  info.created_at = row.created_at;
  info.done_at = row.done_at;
  info.done_by = std::move(row.done_by).value_or("");
  info.store_now = row.store_now;
  return info;
}

Error add_refusal(const sql::ItemAdd::Row& answer, std::string_view key) {
  const auto what = describe_item(key);
  const auto why = answer.why.value_or("");
  const auto other = describe_item(answer.other.value_or(""));
  if (answer.outcome == "not_found") {
    return {.code = Errc::not_found,
            .message = fmt::format("{}, {} of {}, does not exist: add it first", other,
                                   why == "parent" ? "the parent" : "a conflict", what)};
  }
  if (answer.outcome == "invalid" && why == "cycle") {
    return {.code = Errc::invalid_argument,
            .message = fmt::format("{} cannot be the parent of {}: it is below it", other, what)};
  }
  if (answer.outcome == "invalid") {
    return {.code = Errc::invalid_argument, .message = fmt::format("{} cannot be added: {}", what, why)};
  }
  return odd_answer(what, answer.outcome);
}

}  // namespace
}  // namespace session

Result<bool> Items::add(std::string_view key, const ItemOptions& options) const {
  if (auto checked = check_item(key, options); !checked) return std::move(checked).error();
  std::vector<std::string_view> conflicts;
  if (options.conflicts) conflicts.assign(options.conflicts->begin(), options.conflicts->end());
  const sql::ItemAdd statement{.key = key,
                               .title = options.title,
                               .parent = options.parent,
                               .metadata = options.metadata,
                               .conflicts = conflicts,
                               .set_conflicts = options.conflicts.has_value()};
  const auto deadline = impl_->deadline();
  // Not repeated where the answer was lost: adding again does no harm, but would tell that it was there before.
  auto answer =
      lease::ask_until_free(deadline, [&] { return storage::query_one(*impl_->backend, statement, deadline); });
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "created") return true;
  if (answer->outcome == "updated") return false;
  return session::add_refusal(*answer, key);
}

Result<ItemInfo> Items::show(std::string_view key) const {
  if (auto checked = check_name("item key", key); !checked) return std::move(checked).error();
  sql::ItemList statement{.key = key};
  statement.most = 1;
  auto items = storage::query_list(*impl_->backend, statement, impl_->deadline(), session::item_from);
  if (!items) return std::move(items).error();
  if (items->empty()) return session::no_such_item(key);
  return std::move(items->front());
}

Result<std::vector<ItemInfo>> Items::list(const ItemFilter& filter) const {
  if (auto checked = check_text("parent", filter.parent); !checked) return std::move(checked).error();
  if (auto checked = check_text("item key", filter.after_key); !checked) return std::move(checked).error();
  if (auto checked = check_limit(filter.limit); !checked) return std::move(checked).error();
  sql::ItemList statement{.key = std::nullopt};
  if (filter.state) statement.state = to_string(*filter.state);
  if (!filter.parent.empty()) statement.parent = filter.parent;
  if (!filter.after_key.empty()) statement.after_key = filter.after_key;
  statement.most = filter.limit;
  return storage::query_list(*impl_->backend, statement, impl_->deadline(), session::item_from);
}

Result<void> Items::done(std::string_view key, std::optional<Token> token) const {
  if (auto checked = check_name("item key", key); !checked) return checked;
  const auto self = Holder::self();
  sql::ItemDone statement{.key = key};
  if (token) statement.token = token->value;
  statement.holder = self.name;
  const auto deadline = impl_->deadline();
  auto answer = lease::ask_past_dead_holders(*impl_->backend, deadline, [&] {
    return lease::ask_again(deadline, [&] { return storage::query_one(*impl_->backend, statement, deadline); });
  });
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "done") return {};
  return session::claim_refusal(*answer, key);
}

Result<void> Items::reopen(std::string_view key) const {
  if (auto checked = check_name("item key", key); !checked) return checked;
  const sql::ItemReopen statement{.key = key};
  const auto deadline = impl_->deadline();
  auto answer =
      lease::ask_until_free(deadline, [&] { return storage::query_one(*impl_->backend, statement, deadline); });
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "reopened" || answer->outcome == "open") return {};
  if (answer->outcome == "not_found") return session::no_such_item(key);
  return session::odd_answer(session::describe_item(key), answer->outcome);
}

Result<void> Items::remove(std::string_view key) const {
  if (auto checked = check_name("item key", key); !checked) return checked;
  const sql::ItemRemove statement{.key = key};
  const auto deadline = impl_->deadline();
  auto answer = lease::ask_past_dead_holders(*impl_->backend, deadline, [&] {
    return lease::ask_until_free(deadline, [&] { return storage::query_one(*impl_->backend, statement, deadline); });
  });
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "removed") return {};
  return session::claim_refusal(*answer, key);
}

}  // namespace leasehold
