// Everything: leases, locks, jobs and the store they live in. The runtime for workers is in worker.h.
#pragma once

#include "leasehold/events.h"
#include "leasehold/held_lease.h"
#include "leasehold/lease.h"
#include "leasehold/lock.h"
#include "leasehold/migrations.h"
#include "leasehold/queue.h"
#include "leasehold/recovery.h"
#include "leasehold/result.h"
#include "leasehold/store.h"
#include "leasehold/time.h"
