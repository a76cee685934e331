#include "cli/schedule_counts.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/json_check.h"
#include "cli/print.h"
#include "core/schedule_limits.h"

namespace leasehold::cli {

Result<CountsFile> CountsFile::open() {
  run::UniqueFd file(::memfd_create("leasehold-counts", MFD_CLOEXEC));
  if (file) return CountsFile(std::move(file));
  return Error{.code = Errc::internal,
               .message = fmt::format("cannot make a file for the command's counts: {}", std::strerror(errno))};
}

std::string CountsFile::variable() const {
  return fmt::format("LEASEHOLD_COUNTS_FILE=/proc/{}/fd/{}", ::getpid(), file_.get());
}

Result<std::string> CountsFile::read() const {
  std::string bytes(max_counts_bytes + 1, '\0');
  const auto size = ::pread(file_.get(), bytes.data(), bytes.size(), 0);
  bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  if (bytes.size() > max_counts_bytes) {
    return Error{.code = Errc::invalid_argument, .message = "they are longer than 1 MiB"};
  }
  bytes.resize(bytes.find_last_not_of(" \t\r\n") + 1);
  if (bytes.empty() || is_json(bytes)) return bytes;
  return Error{.code = Errc::invalid_argument, .message = "they are not JSON"};
}

std::string counts_told(const CountsFile& file, const std::string& name) {
  auto counts = file.read();
  if (counts) return std::move(*counts);
  say("leasehold: {}: its counts are ignored: {}", printable(name), counts.error().message);
  return {};
}

}  // namespace leasehold::cli
