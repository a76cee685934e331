// Verdicts that a store takes, whatever a handler has said.
#pragma once

#include "leasehold/result.h"
#include "leasehold/scheduler.h"

namespace leasehold::scheduler {

/// The same with an error text that can be stored: any exception's what() becomes one.
RunVerdict storable(RunVerdict verdict);

/// What to say where the store would not have the verdict: counts that are no JSON, say. The run must come to an end.
RunVerdict instead_of(const RunVerdict& verdict, const Error& refusal);

}  // namespace leasehold::scheduler
