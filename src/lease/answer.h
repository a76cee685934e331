// From the store's answer to what a caller gets: a grant, a picture, or a refusal that tells what a person
// asks next. Written once for everything that can be held.
#pragma once

#include <string>
#include <string_view>

#include "leasehold/lease.h"
#include "leasehold/result.h"
#include "storage/statements.h"

namespace leasehold::lease {

/// For the outcomes `granted` and `extended`.
Grant grant_from(const sql::LeaseAnswer& answer, BootTime before_sending);

LeaseInfo info_from(const sql::LeaseAnswer& answer);

/// "held by ann on db1, last heartbeat 3s ago, frees in 27s"
std::string describe_holding(const LeaseInfo& current);

/// "the lease ran out": what `lost` means for a grant that ended like this.
std::string describe_loss(LostReason why, std::string_view end_detail);

/// For `held`, `busy`, `lost` and `not_found`. `what` is for the message: "lock \"deploy\"".
Error refusal_from(const sql::LeaseAnswer& answer, std::string_view what);

}  // namespace leasehold::lease
