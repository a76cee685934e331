#include "storage/sqlite/store_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace leasehold::sqlite {
namespace {

constexpr int most_links = 40;  // the kernel's own bound

Error unavailable(std::string message) { return {.code = Errc::unavailable, .message = std::move(message)}; }

std::string absolute(const std::string& path) {
  std::error_code failed;
  const auto whole = std::filesystem::absolute(path, failed);
  return failed ? path : whole.string();
}

/// A link may lead to a missing file; weakly_canonical() would not resolve it.
std::string without_links(std::filesystem::path path) {
  std::error_code failed;
  for (int i = 0; i < most_links && std::filesystem::is_symlink(path, failed); ++i) {
    const auto target = std::filesystem::read_symlink(path, failed);
    if (failed) break;
    path = path.parent_path() / target;
  }
  const auto canonical = std::filesystem::weakly_canonical(path, failed);
  return failed ? path.string() : canonical.string();
}

/// True if only the file is mounted: SQLite puts the log into the folder around it, which then differs per container.
bool is_mount_point(const std::string& path) {
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string id, parent, device, root, point;
    words >> id >> parent >> device >> root >> point;
    if (point == path) return true;
  }
  return false;
}

Error two_names(const std::string& path, nlink_t names) {
  return unavailable(
      fmt::format("{} has {} names (hard links); SQLite keeps a log for each name, so two holders could have the same "
                  "lock: remove the other names, or copy the file",
                  path, names));
}

}  // namespace

StoreFile::StoreFile(const std::string& given)
    : given_(given == ":memory:" ? given : absolute(given)),
      path_(given == ":memory:" ? given : without_links(given_)),
      frames_path_(path_ + "-wal"),
      index_path_(path_ + "-shm") {}

void StoreFile::make_private() const {
  if (in_memory()) return;
  // Always with O_EXCL: closing a file that SQLite has open in this process would drop SQLite's locks.
  const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file >= 0) ::close(file);
}

Result<void> StoreFile::require_one_name() const {
  struct stat there {};
  if (in_memory() || ::stat(path_.c_str(), &there) != 0 || !S_ISREG(there.st_mode) || there.st_nlink <= 1) return {};
  return two_names(path_, there.st_nlink);
}

std::optional<StoreFile::Identity> StoreFile::identity_of(const std::string& path) {
  struct stat there {};
  if (::stat(path.c_str(), &there) != 0) return std::nullopt;
  return Identity{there.st_dev, there.st_ino};
}

std::optional<StoreFile::Log> StoreFile::log_now() const {
  const auto frames = identity_of(frames_path_);
  const auto index = identity_of(index_path_);
  if (!frames || !index) return std::nullopt;
  return Log{*frames, *index};
}

Result<void> StoreFile::remember(sqlite3* connection) {
  if (in_memory()) return {};
  open_ = identity_of(given_);
  // SQLite compares the inode it has open. Called after identity_of(), so that both mean the same file.
  int moved = 0;
  const int asked = sqlite3_file_control(connection, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (open_ && asked == SQLITE_OK && moved == 0) return {};
  return unavailable(fmt::format("opening {}: the file was replaced at the same moment; try again", given_));
}

Result<void> StoreFile::remember_log() {
  if (in_memory()) return {};
  log_ = log_now();
  if (log_) return {};
  return unavailable(fmt::format("{} or {} was deleted while it was created; try again", frames_path_, index_path_));
}

Result<void> StoreFile::check() const {
  if (!open_) return {};
  struct stat there {};
  if (::stat(given_.c_str(), &there) != 0) {
    const int why = errno;
    if (why != ENOENT) return unavailable(fmt::format("{}: {}", given_, std::generic_category().message(why)));
    return unavailable(
        fmt::format("{} was deleted or renamed while this process had it open, so its leases are lost; put the file "
                    "back, or restart this process",
                    given_));
  }
  if (Identity{there.st_dev, there.st_ino} != *open_) {
    return unavailable(
        fmt::format("{} is not the file that this process has open, so the leases of this process are lost; "
                    "restart it",
                    given_));
  }
  if (there.st_nlink > 1) return two_names(given_, there.st_nlink);
  return {};
}

Result<void> StoreFile::check_log() const {
  if (!log_ || log_now() == log_) return {};
  return unavailable(
      fmt::format("{} or {} was deleted or replaced while this process had it open; stop all processes that use the "
                  "store, then restart them",
                  frames_path_, index_path_));
}

Result<void> StoreFile::require_regular_beside(const std::string& suffix) const {
  const auto name = path_ + suffix;
  struct stat found {};
  if (::lstat(name.c_str(), &found) != 0 || S_ISREG(found.st_mode)) return {};
  return Error{.code = Errc::denied,
               .message = fmt::format("{} is {}: leasehold does not write through it; remove it", name,
                                      S_ISLNK(found.st_mode) ? "a symbolic link" : "not a regular file")};
}

int StoreFile::open_beside(const std::string& suffix) const {
  struct stat store {};
  if (in_memory() || ::stat(path_.c_str(), &store) != 0) return -1;
  const auto name = path_ + suffix;
  const int made = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (made < 0) return ::open(name.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  // Like SQLite with its log, so that root does not lock out the store's owner. If this fails, the owner has no gate.
  if (::geteuid() == 0) [[maybe_unused]]
    const int given = ::fchown(made, store.st_uid, store.st_gid);
  ::fchmod(made, store.st_mode & 0777);
  return made;
}

std::vector<std::pair<std::string, std::string>> StoreFile::facts() const {
  struct stat there {};
  if (in_memory() || ::stat(path_.c_str(), &there) != 0) return {};
  return {{"file", path_},
          {"file_mode", fmt::format("{:04o}", there.st_mode & 0777)},
          {"file_is_mount_point", is_mount_point(path_) ? "true" : "false"}};
}

}  // namespace leasehold::sqlite
