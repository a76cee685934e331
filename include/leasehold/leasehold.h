// Everything: leases, locks and the store they live in.
#pragma once

#include "leasehold/events.h"
#include "leasehold/held_lease.h"
#include "leasehold/lease.h"
#include "leasehold/lock.h"
#include "leasehold/migrations.h"
#include "leasehold/result.h"
#include "leasehold/store.h"
#include "leasehold/time.h"
