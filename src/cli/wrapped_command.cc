#include "cli/wrapped_command.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace leasehold::cli {

std::size_t mark_position(const Context& context) {
  const auto mark = std::find(context.words.begin(), context.words.end(), "--");
  return static_cast<std::size_t>(mark - context.words.begin());
}

Holder holder_guarded_by(const run::ProcessId& guard, const std::string& name) {
  auto holder = Holder::self(name);
  holder.pid = guard.pid;
  holder.process_start = static_cast<std::int64_t>(guard.start_ticks);
  return holder;
}

std::string with_absolute_path(const std::string& url) {
  constexpr std::string_view scheme = "sqlite:";
  const bool relative =
      url.starts_with(scheme) && url.size() > scheme.size() && url[scheme.size()] != '/' && url[scheme.size()] != ':';
  if (!relative) return url;
  std::error_code failure;
  const auto path = std::filesystem::absolute(url.substr(scheme.size()), failure);
  return failure ? url : std::string(scheme) + path.lexically_normal().string();
}

}  // namespace leasehold::cli
