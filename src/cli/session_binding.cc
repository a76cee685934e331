#include "cli/session_binding.h"

#include <fmt/format.h>

#include "base/process.h"

namespace leasehold::cli {

Result<Holder> holder_in_process(std::int64_t pid, const std::string& name) {
  auto holder = Holder::self(name);
  const auto start = start_of_process(pid);
  if (holder.boot_id.empty() || !start || look_for_process(pid, *start) != Liveness::alive) {
    return Error{.code = Errc::not_found,
                 .message = fmt::format("there is no process {} that this user can see in /proc", pid)};
  }
  if (name.empty()) holder.name = fmt::format("{}:{}", holder.name.substr(0, holder.name.rfind(':')), pid);
  holder.pid = pid;
  holder.process_start = *start;
  return holder;
}

}  // namespace leasehold::cli
