#include "cli/caller.h"

#include <fmt/format.h>
#include <unistd.h>

namespace leasehold::cli {

Holder calling_process(const std::string& name) {
  auto holder = Holder::self(name);
  if (name.empty()) {
    const auto colon = holder.name.rfind(':');
    holder.name = fmt::format("{}:{}", holder.name.substr(0, colon), getppid());
  }
  holder.pid = getppid();
  // Not known, so that nobody takes the lease for a dead one's: a script may well end before its lease does.
  holder.process_start = 0;
  return holder;
}

}  // namespace leasehold::cli
