#include "wire/locks.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "wire/json.h"
#include "wire/leases.h"

namespace leasehold::wire {

std::string to_json(const Grant& grant, const std::vector<std::string>& names, const std::optional<Share>& share) {
  auto out = encode(grant);
  if (names.size() > 1) out["names"] = texts(names);
  if (share) {
    out["permits"] = share->permits;
    out["capacity"] = share->capacity ? boost::json::value(*share->capacity) : boost::json::value(nullptr);
  }
  return render(out);
}

std::string to_json(const LockInfo& lock, const std::vector<LockHolder>& holders) {
  auto out = encode(lock);
  boost::json::array all;
  for (const auto& holder : holders) all.emplace_back(encode(holder));
  out["held_by"] = std::move(all);
  return render(out);
}

std::string to_json(const LeaseInfo& ended, const std::vector<std::string>& together) {
  auto out = encode(ended);
  out["together"] = texts(together);
  return render(out);
}

}  // namespace leasehold::wire
