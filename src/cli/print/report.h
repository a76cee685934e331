// Errors as the user meets them: the message, who holds the key, and the exit code.
#pragma once

#include "cli/context.h"
#include "leasehold/result.h"

namespace leasehold::cli {

/// Which exit code tells of this error.
int exit_code_of(const Error& error, int held_code = exit_code::held);

/// Says what went wrong, once, and gives the exit code: one line on stderr, or with --json one object on stdout.
int report(const Context& context, const Error& error, int held_code = exit_code::held);

/// "held by ana@box (pid 12, tty pts/3) since 12:00:00, heartbeat 2m ago, frees at 12:00:30 (in 20s)"
std::string describe_holder(const LeaseInfo& lease);

/// The same without what to do about something that is not there: whoever wants it gone does not want to make it first.
Error without_advice(Error error);

/// For destructive commands without --yes: says what is missing, exit code 2.
int ask_for_yes(const Context& context, std::string_view what);

// Why an item cannot be had, as a person wants to hear it: whose it is, where that one sits, whether it is alive and
// working, and when the item frees.

/// The message on stderr and, where somebody else has the item, all about the owner under it; with --json also on
/// stdout. Gives the exit code.
int report_refusal(const Context& context, const Error& error, int held_code = exit_code::held);

}  // namespace leasehold::cli
