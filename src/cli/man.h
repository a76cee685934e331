// Manual pages in roff (man macros), one per command.
#pragma once

#include <string>

#include "cli/tree.h"

namespace leasehold::cli {

/// NAME, SYNOPSIS, DESCRIPTION, OPTIONS, EXAMPLES, EXIT STATUS, ENVIRONMENT, SEE ALSO.
std::string man_page(const CommandText& command);

}  // namespace leasehold::cli
