// The keys of `leasehold top`, in a line and on a page.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/top_panel.h"

namespace leasehold::cli {

std::string keys_line(std::size_t panels);

std::vector<std::string> help_lines(const std::vector<TopPanel>& panels);

}  // namespace leasehold::cli
