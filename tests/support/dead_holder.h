// Somebody on this host who has died.
#pragma once

#include <cstdio>
#include <sstream>
#include <string>

#include "leasehold/lease.h"
#include "support/process.h"

namespace leasehold::support {

LEASEHOLD_ROLE(says_who_it_is) {
  const auto self = Holder::self();
  printf("%lld %lld\n", static_cast<long long>(self.pid), static_cast<long long>(self.process_start));
  return 0;
}

/// A process of this host that has ended.
inline Holder dead_holder(const std::string& name) {
  auto process = Process::self("says_who_it_is");
  std::istringstream line(process.read_line(std::chrono::seconds(10)).value_or(""));
  auto holder = Holder::self(name);
  line >> holder.pid >> holder.process_start;
  process.finish(std::chrono::seconds(10));
  return holder;
}

}  // namespace leasehold::support
