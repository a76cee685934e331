// Jobs::settle_and_claim: two acts that travel together.
#include <optional>
#include <utility>

#include "queue/claim.h"
#include "queue/jobs.h"
#include "queue/verdict.h"
#include "storage/query.h"

namespace leasehold {

NextJob Jobs::settle_and_claim(JobId id, Token token, const Verdict& verdict, std::string_view queue,
                               const ClaimOptions& options) const {
  const queue::VerdictStatement statement(id, token, verdict);
  if (auto checked = statement.check(); !checked) return {checked.error(), checked.error()};
  auto wish = queue::wish_from(queue, options);
  if (!wish) return {wish.error(), wish.error()};
  queue::Asking asking(*wish, *impl_->positions);
  const auto deadline = impl_->deadline();
  auto [settled, lot] = storage::query_both(*impl_->backend, statement.get(), asking.statement(), deadline);
  // The verdict first: what it has to say again may free the place for the claim.
  auto told = impl_->settle(statement, std::move(settled));
  return {std::move(told), impl_->claim(*wish, options, asking.ask(*impl_->backend, deadline, std::move(lot)))};
}

}  // namespace leasehold
