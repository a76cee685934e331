// Everything: leases, locks, elections, jobs, chunks, sessions, claims, schedules, rates and the store. The runtimes
// for workers, loaders and schedulers are in worker.h, loader.h and scheduler.h.
#pragma once

#include "leasehold/chunk.h"
#include "leasehold/election.h"
#include "leasehold/events.h"
#include "leasehold/held_lease.h"
#include "leasehold/item.h"
#include "leasehold/job.h"
#include "leasehold/lease.h"
#include "leasehold/limits.h"
#include "leasehold/lock.h"
#include "leasehold/migrations.h"
#include "leasehold/queue.h"
#include "leasehold/rate.h"
#include "leasehold/recovery.h"
#include "leasehold/result.h"
#include "leasehold/schedule.h"
#include "leasehold/session.h"
#include "leasehold/store.h"
#include "leasehold/time.h"
