// Schedules that are not to be run now, as the user meets them: no failure, but one line and an exit code of its own.
#pragma once

#include <string>

#include "cli/context.h"
#include "leasehold/schedule.h"

namespace leasehold::cli {

struct SkipManner {
  int code = exit_code::nothing_to_do;
  bool quiet = false;  ///< only the exit code
};

/// Whether a refused acquire is a normal thing: `not_due`, `held`, `paused`.
[[nodiscard]] bool is_skip(const Error& refusal);

/// Says on stderr why it is not run (with --json also on stdout) and gives the exit code.
int tell_skip(const Context& context, const Schedules& schedules, const std::string& name, const Error& refusal,
              const SkipManner& manner);

}  // namespace leasehold::cli
