#include "cli/lock_environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/text.h"
#include "cli/wrapped_command.h"

namespace leasehold::cli {
namespace {

constexpr const char* instances_variable = "LEASEHOLD_INSTANCES";

/// Of all holders that this process runs inside of, the outermost first.
std::vector<std::string> outer_instances() {
  std::vector<std::string> instances;
  const char* told = std::getenv(instances_variable);
  std::istringstream lines(told != nullptr ? told : "");
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) instances.push_back(line);
  }
  return instances;
}

Error reentry(const LockHolder& outer) {
  return {
      .code = Errc::reentry,
      .message = fmt::format("lock {} is held by what this command runs inside of ({}, token {}): it would wait for "
                             "itself",
                             leasehold::quoted(outer.key), outer.holder.name, outer.token.value),
      .current = outer};
}

/// Beside these shares there is never room for another one: they are given back only after it.
bool no_room_beside(std::int64_t permits_outside, const Share& share) {
  return share.capacity && permits_outside + share.permits > *share.capacity;
}

Result<void> check_one(const Locks& locks, const std::string& name, const std::optional<Share>& share,
                       const std::vector<std::string>& outer) {
  const auto holders = locks.holders(name);
  // Whatever is wrong with the store or the name, the acquire says it better.
  if (!holders) return {};
  std::int64_t permits = 0;
  for (const auto& holder : *holders) {
    const bool is_outer = std::find(outer.begin(), outer.end(), holder.holder.instance) != outer.end();
    if (!is_outer || holder.state != LeaseState::running) continue;
    permits += holder.permits.value_or(0);
    if (!share || !holder.permits || no_room_beside(permits, *share)) return reentry(holder);
  }
  return {};
}

}  // namespace

std::vector<std::string> lock_environment(const Grant& grant, const std::vector<std::string>& names,
                                          const std::string& url) {
  auto instances = outer_instances();
  instances.push_back(grant.holder.instance);
  std::vector<std::string> environment{
      fmt::format("LEASEHOLD_KEY={}", names.front()),
      fmt::format("LEASEHOLD_TOKEN={}", grant.token.value),
      fmt::format("LEASEHOLD_EXPIRES_AT={}", to_string(grant.expires_at)),
      fmt::format("LEASEHOLD_DB={}", with_absolute_path(url)),
      fmt::format("LEASEHOLD_INSTANCE={}", grant.holder.instance),
      fmt::format("{}={}", instances_variable, fmt::join(instances, "\n")),
  };
  if (names.size() > 1) environment.push_back(fmt::format("LEASEHOLD_KEYS={}", fmt::join(names, "\n")));
  return environment;
}

Result<void> check_reentry(const Locks& locks, const std::vector<std::string>& names,
                           const std::optional<Share>& share) {
  const auto outer = outer_instances();
  if (outer.empty()) return {};
  for (const auto& name : names) {
    if (auto checked = check_one(locks, name, share, outer); !checked) return checked;
  }
  return {};
}

}  // namespace leasehold::cli
