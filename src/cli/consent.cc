#include "cli/consent.h"

namespace leasehold::cli {

void add_consent(CLI::App& command, Consent& consent) {
  auto* yes = command.add_flag("--yes", consent.yes, "Do it");
  command.add_flag("--dry-run", consent.dry_run, "Only tell what it would do")->excludes(yes);
}

}  // namespace leasehold::cli
