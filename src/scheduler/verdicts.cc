#include "scheduler/verdicts.h"

#include <utility>

#include "base/text.h"
#include "core/job_limits.h"

namespace leasehold::scheduler {

RunVerdict storable(RunVerdict verdict) {
  if (verdict.kind == RunVerdict::Kind::fail) {
    verdict.error = clean_text(verdict.error, max_error_bytes);
  } else {
    verdict.error.clear();
  }
  return verdict;
}

RunVerdict instead_of(const RunVerdict& verdict, const Error& refusal) {
  auto why = "the verdict was not accepted: " + refusal.message;
  if (!verdict.error.empty()) {
    // Both are to be read, however long the handler's own words are.
    constexpr std::size_t room_for_why = 1024;
    why = clean_text(verdict.error, max_error_bytes - room_for_why) + " (" + why + ")";
  }
  return storable(RunVerdict::fail(std::move(why)));
}

}  // namespace leasehold::scheduler
