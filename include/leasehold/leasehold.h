// Everything: leases, locks, elections, jobs, chunks, sessions, claims, schedules, rates, rows of adopted tables and
// the store. The runtimes for workers, loaders, schedulers and rows are in worker.h, loader.h, scheduler.h and
// row_worker.h.
#pragma once

#include "leasehold/access.h"
#include "leasehold/adopt.h"
#include "leasehold/chunk.h"
#include "leasehold/election.h"
#include "leasehold/events.h"
#include "leasehold/held_lease.h"
#include "leasehold/history.h"
#include "leasehold/item.h"
#include "leasehold/job.h"
#include "leasehold/lease.h"
#include "leasehold/limits.h"
#include "leasehold/lock.h"
#include "leasehold/metrics.h"
#include "leasehold/migrations.h"
#include "leasehold/queue.h"
#include "leasehold/rate.h"
#include "leasehold/recovery.h"
#include "leasehold/result.h"
#include "leasehold/row.h"
#include "leasehold/schedule.h"
#include "leasehold/session.h"
#include "leasehold/store.h"
#include "leasehold/time.h"
