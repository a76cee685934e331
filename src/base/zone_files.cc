#include "base/zone_files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace leasehold {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic = "TZif";

/// Zone names begin with a capital letter. Other files in the folder describe this machine ("localtime") or count leap
/// seconds ("right/Europe/Berlin"): their names do not mean the same everywhere.
bool is_zone_name(std::string_view name) {
  constexpr std::string_view known = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/";
  return !name.empty() && name.front() >= 'A' && name.front() <= 'Z' &&
         name.find_first_not_of(known) == std::string_view::npos;
}

}  // namespace

std::string zone_folder() {
  const char* folder = std::getenv("TZDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/usr/share/zoneinfo";
}

std::optional<std::string> read_zone_file(std::string_view name) {
  if (!is_zone_name(name)) return std::nullopt;
  const auto path = fs::path(zone_folder()) / name;
  std::error_code ignored;
  // Reading a directory throws.
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (!bytes.starts_with(magic)) return std::nullopt;
  return bytes;
}

std::vector<std::string> zone_names() {
  std::vector<std::string> names;
  std::error_code ignored;
  const fs::path folder = zone_folder();
  for (fs::recursive_directory_iterator file(folder, ignored), end; file != end; file.increment(ignored)) {
    auto name = file->path().lexically_relative(folder).string();
    if (is_zone_name(name) && file->is_regular_file(ignored)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace leasehold
