// One lease for many claims: opened, extended and closed by a loader.
#include "chunk/chunks.h"
#include "core/limits.h"
#include "lease/heartbeat.h"
#include "lease/shared_lease.h"

namespace leasehold {
namespace chunk {
namespace {

constexpr std::string_view loaders_lease = "the loader's lease";

}  // namespace
}  // namespace chunk

Result<LoaderLease> Chunks::open_lease(const Holder& holder, Duration ttl) const {
  return lease::open_shared_lease<LoaderLease>(*impl_->backend, sql::LoaderOpen{}, holder, ttl, impl_->deadline());
}

Result<LoaderLease> Chunks::extend(const LoaderLease& lease, Duration ttl) const {
  auto new_ttl = lease::new_ttl(ttl);
  if (!new_ttl) return std::move(new_ttl).error();
  if (auto checked = check_text("instance", lease.instance); !checked) return std::move(checked).error();
  const sql::LoaderExtend statement{.lease_id = lease.id, .instance = lease.instance, .ttl = *new_ttl};
  const auto deadline = impl_->deadline();
  BootTime before_sending;
  auto answer = lease::ask_again(deadline, [&] {
    before_sending = BootClock::now();
    return storage::query_one(*impl_->backend, statement, deadline);
  });
  if (!answer) return std::move(answer).error();
  if (answer->outcome != "extended")
    return lease::shared_lease_refusal(chunk::loaders_lease, answer->outcome, answer->why);
  auto extended = lease;
  lease::note_extension(extended, *answer, before_sending);
  return extended;
}

Result<void> Chunks::close(const LoaderLease& lease) const {
  const sql::LoaderClose statement{.lease_id = lease.id, .instance = lease.instance, .reason = "closed"};
  return lease::close_shared_lease(*impl_->backend, statement, chunk::loaders_lease, impl_->deadline());
}

}  // namespace leasehold
