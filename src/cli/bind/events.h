// Events as they come, for `events --follow` and `lock watch --events`.
#pragma once

#include "cli/context.h"
#include "leasehold/events.h"
#include "leasehold/store.h"

namespace leasehold::cli {

/// One line; with --json an object.
void print_event(const Context& context, const Event& event);

/// Prints the newest `filter.limit` events, then all that happens, until this process is told to stop. Gives the exit
/// code.
int follow_events(const Context& context, const Store& store, const EventFilter& filter);

}  // namespace leasehold::cli
