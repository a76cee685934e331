// From the store's answer to what a caller gets: a grant, a picture, or a refusal that tells what a person
// asks next. Written once for everything that can be held.
#pragma once

#include "leasehold/lease.h"
#include "leasehold/result.h"
#include "storage/statements.h"

namespace leasehold::lease {

/// For the outcomes `granted` and `extended`.
Grant grant_from(const sql::LeaseAnswer& answer, BootTime before_sending);

LeaseInfo info_from(const sql::LeaseAnswer& answer);

/// For `held`, `busy`, `lost` and `not_found`. `what` is for the message: "lock \"deploy\"".
Error refusal_from(const sql::LeaseAnswer& answer, std::string_view what);

}  // namespace leasehold::lease
