// The tz database of this machine: the compiled files of the package tzdata, below $TZDIR or /usr/share/zoneinfo.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold {

std::string zone_folder();

/// The file of a zone such as Europe/Berlin; nothing if no zone has that name. The path stays below the folder.
std::optional<std::string> read_zone_file(std::string_view name);

/// All zone names, for "did you mean". Slow: it reads the whole folder.
std::vector<std::string> zone_names();

}  // namespace leasehold
