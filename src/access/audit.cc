// The audit log, and HTTP requests that clients may repeat.
#include <fmt/format.h>

#include "access/access.h"
#include "base/digest.h"
#include "base/text.h"
#include "lease/answer.h"
#include "lease/page.h"
#include "model/described.h"
#include "model/words.h"

namespace leasehold {
namespace {

AuditEntry entry_from(sql::AuditList::Row& row) { return std::move(row).as<AuditEntry>(); }

}  // namespace

Result<void> Access::record(const AuditEntry& entry) const {
  if (auto checked = model::check_fields_of(entry); !checked) return checked;
  if (auto checked = check_name("act", entry.act); !checked) return checked;
  if (auto checked = check_name("outcome", entry.outcome); !checked) return checked;
  const sql::AuditRecord statement{.by = entry.by,
                                   .act = entry.act,
                                   .key = entry.key,
                                   .outcome = entry.outcome,
                                   .detail = entry.detail,
                                   .request_id = entry.request_id};
  // An entry twice in the log is better than none.
  auto answer = impl_->new_call().ask_again(statement);
  if (!answer) return std::move(answer).error();
  return {};
}

Result<Page<AuditEntry>> Access::audit(const AuditFilter& filter) const {
  if (auto checked = model::check_fields_of(filter); !checked) return std::move(checked).error();
  auto before = lease::page_number(filter.page);
  if (!before) return std::move(before).error();
  const sql::AuditList statement{.by = access::if_any(filter.by),
                                 .act = access::if_any(filter.act),
                                 .key = access::if_any(filter.key),
                                 .since = filter.since,
                                 .until = filter.until,
                                 .before_id = *before > 0 ? std::optional(*before) : std::nullopt,
                                 .max = lease::rows_for(filter.max)};
  return lease::page_of(impl_->new_call().list(statement, entry_from), filter.max, access::behind_last_id);
}

namespace {

Result<void> check_request(const NewRequest& request) {
  if (auto checked = check_name("idempotency key", request.key); !checked) return checked;
  if (auto checked = check_name("caller", request.who); !checked) return checked;
  if (auto checked = check_name("act", request.act); !checked) return checked;
  return check_name("digest", request.digest);
}

}  // namespace

Result<BegunRequest> Access::begin_request(const NewRequest& request) const {
  if (auto checked = check_request(request); !checked) return std::move(checked).error();
  const auto request_id = random_request_id();
  const auto turn = random_hex();
  const sql::HttpRequestBegin statement{.who = request.who,
                                        .key = request.key,
                                        .act = request.act,
                                        .digest = request.digest,
                                        .request_id = request_id,
                                        .turn = turn};
  // The turn makes this call repeatable.
  auto answer = impl_->new_call().ask_again(statement);
  if (!answer) return std::move(answer).error();
  const auto state = from_word<RequestState>(answer->state);
  if (!state) return lease::odd_answer("request " + quoted(request.key), answer->state);
  BegunRequest begun{.state = *state, .request_id = std::move(answer->request_id), .since = answer->since};
  if (*state == RequestState::fresh) begun.turn = turn;
  if (*state == RequestState::replay) {
    begun.status = answer->status;
    begun.answer = std::move(answer->answer);
  }
  return begun;
}

Result<bool> Access::finish_request(std::string_view key, std::string_view who, int status,
                                    std::string_view answer) const {
  if (auto checked = check_size("answer", answer.size(), bounds::request_answer_bytes); !checked) {
    return std::move(checked).error();
  }
  const sql::HttpRequestFinish statement{.who = who, .key = key, .status = status, .answer = answer};
  auto finished = impl_->new_call().ask_again(statement);
  if (!finished) return std::move(finished).error();
  return finished->finished;
}

Result<bool> Access::drop_request(std::string_view key, std::string_view who, std::string_view turn) const {
  const sql::HttpRequestDrop statement{.who = who, .key = key, .turn = turn};
  auto dropped = impl_->new_call().ask_again(statement);
  if (!dropped) return std::move(dropped).error();
  return dropped->dropped;
}

}  // namespace leasehold
