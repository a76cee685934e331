// Puts a holder into a statement that takes one.
#pragma once

#include "leasehold/lease.h"

namespace leasehold::lease {

/// S is one of the generated structs that open a lease: LockAcquire, LockWait, JobClaim, LeaseOpen.
template <typename S>
S with_holder(S statement, const Holder& holder) {
  statement.holder = holder.name;
  statement.host = holder.host;
  statement.boot_id = holder.boot_id;
  statement.pid = holder.pid;
  statement.process_start = holder.process_start;
  statement.tty = holder.tty;
  statement.instance = holder.instance;
  return statement;
}

}  // namespace leasehold::lease
