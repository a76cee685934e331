#include "queue/verdict.h"

#include <utility>

#include "base/text.h"
#include "core/job_limits.h"

namespace leasehold {
namespace queue {
namespace {

std::string_view word_for(Verdict::Kind kind) {
  switch (kind) {
    case Verdict::Kind::complete: return "complete";
    case Verdict::Kind::fail: return "fail";
    case Verdict::Kind::release: return "release";
    case Verdict::Kind::snooze: return "snooze";
  }
  return "unknown";
}

}  // namespace

VerdictStatement::VerdictStatement(JobId id, Token token, Verdict::Kind kind, std::string_view text, bool retryable,
                                   std::optional<Duration> delay)
    : statement_{.job_id = id, .token = token.value, .verdict = word_for(kind)} {
  if (kind == Verdict::Kind::complete && !text.empty()) statement_.result = text;
  if (kind == Verdict::Kind::fail) {
    error_ = clean_text(text, max_error_bytes);
    if (!error_.empty()) statement_.error = error_;
  }
  statement_.retryable = retryable;
  if (kind == Verdict::Kind::fail) statement_.delay = delay;
  if (kind == Verdict::Kind::snooze) statement_.delay = delay.value_or(Duration(0));
}

Result<void> VerdictStatement::check() const {
  if (statement_.result) {
    if (auto checked = check_result(*statement_.result); !checked) return checked;
  }
  return statement_.delay ? check_delay("delay", *statement_.delay) : Result<void>();
}

}  // namespace queue

Verdict Verdict::complete(std::string result) { return {.kind = Kind::complete, .text = std::move(result)}; }

Verdict Verdict::fail(std::string error) { return {.kind = Kind::fail, .text = std::move(error)}; }

Verdict Verdict::fail_for_good(std::string error) {
  return {.kind = Kind::fail, .text = std::move(error), .retryable = false};
}

Verdict Verdict::retry_in(Duration delay, std::string error) {
  return {.kind = Kind::fail, .text = std::move(error), .delay = delay};
}

Verdict Verdict::release() { return {.kind = Kind::release}; }

Verdict Verdict::snooze(Duration delay) { return {.kind = Kind::snooze, .delay = delay}; }

}  // namespace leasehold
