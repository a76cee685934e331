#include "lease/shared_lease.h"

#include "lease/answer.h"

namespace leasehold::lease {

Error shared_lease_refusal(std::string_view what, std::string_view outcome, const std::optional<std::string>& why) {
  if (outcome == "lost") return lost_error(what, why.value_or(""));
  if (outcome == "not_found") return {.code = Errc::not_found, .message = std::string(what) + " does not exist"};
  return odd_answer(what, outcome);
}

}  // namespace leasehold::lease
