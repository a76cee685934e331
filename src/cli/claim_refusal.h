// Why an item cannot be had, as a person wants to hear it: whose it is, where that one sits, whether it is alive and
// working, and when the item frees.
#pragma once

#include "cli/context.h"
#include "leasehold/result.h"

namespace leasehold::cli {

/// The message on stderr and, where somebody else has the item, all about the owner under it; with --json also on
/// stdout. Gives the exit code.
int report_refusal(const Context& context, const Error& error, int held_code = exit_code::held);

}  // namespace leasehold::cli
