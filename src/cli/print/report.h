// What the user reads: errors with their holder and exit code, and live events.
#pragma once

#include "cli/context.h"
#include "leasehold/events.h"
#include "leasehold/result.h"
#include "leasehold/store.h"

namespace leasehold::cli {

/// The exit code for this error.
int exit_code_of(const Error& error, int held_code = exit_code::held);

/// Reports the error once and returns the exit code: one line on stderr, or with --json one object on stdout.
int report(const Context& context, const Error& error, int held_code = exit_code::held);

/// "held by ana@box (pid 12, tty pts/3) since 12:00:00, heartbeat 2m ago, frees at 12:00:30 (in 20s)"
std::string describe_holder(const LeaseInfo& lease);

/// The same without the advice to create a missing thing: useless for a command that removes it.
Error without_advice(Error error);

/// For destructive commands without --yes: reports the missing option, exit code 2.
int ask_for_yes(const Context& context, std::string_view what);

// Explains to a person why an item is not available: its owner and the owner's location, whether the owner is alive and
// working, and when the item becomes free.

/// The message on stderr; if another session has the item, followed by details about the owner. With --json on stdout.
/// Returns the exit code.
int report_refusal(const Context& context, const Error& error, int held_code = exit_code::held);

// Events (bind/events.cc), for `events` and `lock watch --events`.

/// One line; with --json an object.
void print_event(const Context& context, const Event& event);

/// Prints the newest `filter.max` events, then all new ones, until this process is stopped. Returns the exit code.
int follow_events(const Context& context, const Store& store, const EventFilter& filter,
                  const std::optional<EventMark>& after = {});

}  // namespace leasehold::cli
