// The tz database of this machine: the compiled files of the package tzdata, below $TZDIR or /usr/share/zoneinfo.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold {

std::string zone_folder();

/// The file of a zone such as Europe/Berlin; nothing if there is none of that name. The name stays below the folder.
std::optional<std::string> read_zone_file(std::string_view name);

/// Every zone there is, for "did you mean": reads the folder, so not for every day.
std::vector<std::string> zone_names();

}  // namespace leasehold
