// --yes and --dry-run of destructive commands. One of them has to be said, and not both.
//
//   if (!options.consent.given()) return ask_for_yes(context, "delete forgets the job and its history");
#pragma once

#include <CLI/CLI.hpp>

namespace leasehold::cli {

struct Consent {
  bool yes = false;
  bool dry_run = false;

  [[nodiscard]] bool given() const { return yes || dry_run; }
};
void add_consent(CLI::App& command, Consent& consent);

}  // namespace leasehold::cli
