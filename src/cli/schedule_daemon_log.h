// What `leasehold schedule daemon` tells while it goes on: one line for everything that happens.
#pragma once

#include "cli/context.h"
#include "leasehold/scheduler.h"

namespace leasehold::cli {

/// Has `options` tell of what happens, on stderr.
void log_events(SchedulerOptions& options);

/// At the end: what became of it all.
void tell_summary(const Context& context, const ScheduleSummary& summary);

}  // namespace leasehold::cli
