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
  auto [settled, lot] = storage::query_both(*impl_->backend, statement.get(), asking.statement(), impl_->deadline());
  // The verdict first: if it has to be said again, that may free the place for the claim.
  auto told = impl_->settle(statement, std::move(settled));
  auto asked = asking.ask(*impl_->backend, impl_->deadline(), std::move(lot));
  return {std::move(told), impl_->claim(*wish, options, std::move(asked))};
}

}  // namespace leasehold
