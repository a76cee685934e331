// Lines that a job's command writes to its descriptor 3.
//
//   50 copying tables
//   50%
//   {"percent": 50, "message": "copying tables", "stage": "copy"}
//   anything else is the message
#pragma once

#include <string_view>

#include "wire/progress.h"

namespace leasehold::cli {

wire::ProgressReport parse_progress_line(std::string_view line);

}  // namespace leasehold::cli
