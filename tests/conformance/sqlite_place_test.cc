// A SQLite file that is not what it was, that has two names, or that others can read.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "leasehold/sqlite.h"
#include "support/lock_helpers.h"
#include "support/process.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

namespace fs = std::filesystem;

class SqlitePlaceTest : public ::testing::Test {
 protected:
  Store opened(const std::string& path) const {
    auto store = Store::open("sqlite:" + path, {.call_timeout = 2s});
    if (!store) throw std::runtime_error(describe(store.error()));
    return *store;
  }
  void remove_with_sidecars(const std::string& path) const {
    for (const auto* suffix : {"", "-wal", "-shm", "-gate"}) fs::remove(path + suffix);
  }
  static unsigned mode_of(const std::string& path) {
    struct stat there {};
    return ::stat(path.c_str(), &there) == 0 ? there.st_mode & 0777U : 0;
  }
  static std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// Every request of this holder is refused, and the refusal names the file.
  static void expect_out_of_reach(const Store& store, const Grant& grant, const std::string& path) {
    const auto extended = store.locks().heartbeat("deploy", grant.token);
    ASSERT_TRUE(fails(extended, Errc::unavailable));
    EXPECT_NE(extended.error().message.find(path), std::string::npos) << extended.error().message;
    EXPECT_TRUE(fails(store.locks().acquire("other"), Errc::unavailable));
    EXPECT_TRUE(fails(store.locks().show("deploy"), Errc::unavailable)) << "the old file's answer is worth nothing";
  }

  TempDir folder_;
  std::string path_ = folder_.file("store.db");
};

TEST_F(SqlitePlaceTest, Promise05_AHeartbeatInAReplacedFileDoesNotCount) {
  const auto old = opened(path_);
  const auto grant = take(old.locks(), "deploy", {}, by("alice"));
  remove_with_sidecars(path_);
  const auto fresh = opened(path_);
  const auto second = take(fresh.locks(), "deploy", {}, by("bob"));
  expect_out_of_reach(old, grant, path_);
  EXPECT_TRUE(ok(fresh.locks().heartbeat("deploy", second.token)));
}

TEST_F(SqlitePlaceTest, Promise05_AHeartbeatInADeletedFileDoesNotCountAndMakesNoNewOne) {
  const auto store = opened(path_);
  const auto grant = take(store.locks(), "deploy");
  remove_with_sidecars(path_);
  expect_out_of_reach(store, grant, path_);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(SqlitePlaceTest, ARenamedFileCountsAgainOnceItIsBack) {
  const auto store = opened(path_);
  const auto grant = take(store.locks(), "deploy");
  fs::rename(path_, folder_.file("elsewhere.db"));
  expect_out_of_reach(store, grant, path_);
  fs::rename(folder_.file("elsewhere.db"), path_);
  EXPECT_TRUE(ok(store.locks().heartbeat("deploy", grant.token)));
}

TEST_F(SqlitePlaceTest, AHolderStopsInTimeWhenItsFileIsReplaced) {
  const auto store = opened(path_);
  auto held = store.locks().hold("deploy", {.ttl = 600ms});
  ASSERT_TRUE(ok(held));
  remove_with_sidecars(path_);
  const auto fresh = opened(path_);
  EXPECT_TRUE(ok(fresh.locks().acquire("deploy")));
  EXPECT_TRUE(eventually([&] { return held->stop_token().stop_requested(); }, 5s));
}

TEST_F(SqlitePlaceTest, ALogThatWasDeletedUnderAStoreIsNoticed) {
  for (const auto* suffix : {"-wal", "-shm"}) {
    const auto path = folder_.file(std::string("store") + suffix + ".db");
    const auto store = opened(path);
    const auto grant = take(store.locks(), "deploy");
    fs::remove(path + suffix);
    const auto extended = store.locks().heartbeat("deploy", grant.token);
    ASSERT_TRUE(fails(extended, Errc::unavailable)) << suffix;
    EXPECT_NE(extended.error().message.find(path + suffix), std::string::npos) << extended.error().message;
  }
}

TEST_F(SqlitePlaceTest, AFileWithTwoNamesIsRefusedUnderBoth) {
  const auto store = opened(path_);
  const auto grant = take(store.locks(), "deploy");
  const auto second = folder_.file("second.db");
  fs::create_hard_link(path_, second);
  expect_out_of_reach(store, grant, path_);
  for (const auto& name : {path_, second}) {
    const auto refused = Store::open("sqlite:" + name);
    ASSERT_TRUE(fails(refused, Errc::unavailable));
    EXPECT_NE(refused.error().message.find("hard links"), std::string::npos) << refused.error().message;
  }
  EXPECT_FALSE(fs::exists(second + "-wal"));
  fs::remove(second);
  EXPECT_TRUE(ok(store.locks().heartbeat("deploy", grant.token)));
}

TEST_F(SqlitePlaceTest, ASymbolicLinkIsTheSameStoreWithTheSameSidecars) {
  const auto link = folder_.file("link.db");
  fs::create_symlink("store.db", link);  // before the file is there
  const auto by_link = opened(link);
  const auto by_name = opened(path_);
  take(by_link.locks(), "deploy", {}, by("alice"));
  EXPECT_TRUE(fails(by_name.locks().acquire("deploy", {}, by("bob")), Errc::held));
  for (const auto* suffix : {"-wal", "-shm", "-gate"}) {
    EXPECT_TRUE(fs::exists(path_ + suffix)) << suffix;
    EXPECT_FALSE(fs::exists(link + suffix)) << suffix;
  }
}

TEST_F(SqlitePlaceTest, Promise05_AHeartbeatOverALinkThatLeadsElsewhereDoesNotCount) {
  const auto link = folder_.file("link.db");
  fs::create_symlink("store.db", link);
  const auto store = opened(link);
  const auto grant = take(store.locks(), "deploy");
  fs::remove(link);
  fs::create_symlink("other.db", link);
  take(opened(link).locks(), "deploy");
  expect_out_of_reach(store, grant, link);
}

TEST_F(SqlitePlaceTest, AVerdictInYourOwnTransactionOnAReplacedFileIsUnavailable) {
  { opened(path_); }
  const SqliteFile mine(path_);
  mine.run("BEGIN IMMEDIATE");
  remove_with_sidecars(path_);
  EXPECT_TRUE(fails(enqueue(mine.handle(), "q", {.payload = "1"}), Errc::unavailable));
}

TEST_F(SqlitePlaceTest, ANewStoreIsPrivateWhateverTheUmask) {
  const auto before = ::umask(0);
  const auto store = opened(path_);
  take(store.locks(), "deploy");
  ::umask(before);
  for (const auto* suffix : {"", "-wal", "-shm", "-gate"}) EXPECT_EQ(mode_of(path_ + suffix), 0600U) << suffix;
}

TEST_F(SqlitePlaceTest, TheSidecarsOfASharedStoreAreAsSharedAsItself) {
  { take(opened(path_).locks(), "deploy"); }
  fs::remove(path_ + "-gate");
  ASSERT_EQ(::chmod(path_.c_str(), 0660), 0);
  const auto store = opened(path_);
  take(store.locks(), "other");
  for (const auto* suffix : {"", "-wal", "-shm", "-gate"}) EXPECT_EQ(mode_of(path_ + suffix), 0660U) << suffix;
}

TEST_F(SqlitePlaceTest, ALookAtAnotherProgramsFileChangesNothing) {
  SqliteFile(path_).run("CREATE TABLE orders (id); INSERT INTO orders VALUES (1)");
  const auto before = content_of(path_);
  EXPECT_TRUE(fails(Store::open("sqlite:" + path_, {.create = false}), Errc::schema_missing));
  const auto migrations = Migrations::open("sqlite:" + path_, {.create = false});
  ASSERT_TRUE(ok(migrations));
  EXPECT_TRUE(ok(migrations->status()));
  EXPECT_EQ(content_of(path_), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1) << "files were left beside it";
  EXPECT_EQ(SqliteFile(path_).scalar("PRAGMA journal_mode"), "delete");
}

const Finding* finding_about(const std::vector<Finding>& findings, const std::string& what) {
  for (const auto& finding : findings) {
    if (finding.what.starts_with(what)) return &finding;
  }
  return nullptr;
}

TEST_F(SqlitePlaceTest, DoctorWarnsIfEveryUserCanReadTheStore) {
  const auto store = opened(path_);
  auto findings = store.doctor();
  ASSERT_TRUE(ok(findings));
  const auto* mode = finding_about(*findings, "file mode");
  ASSERT_NE(mode, nullptr);
  EXPECT_EQ(mode->level, Finding::Level::fine) << mode->what;
  ASSERT_EQ(::chmod(path_.c_str(), 0644), 0);
  findings = store.doctor();
  ASSERT_TRUE(ok(findings));
  mode = finding_about(*findings, "file mode");
  ASSERT_NE(mode, nullptr);
  EXPECT_EQ(mode->level, Finding::Level::advice);
  EXPECT_EQ(mode->what, "file mode = 0644");
}

// The mount that a container makes with `-v store.db:/data/store.db`. The mount is gone with the process.
LEASEHOLD_ROLE(looks_at_a_mounted_file) {
  const auto path = env("STORE_PATH");
  const int namespaces = ::geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;
  if (::unshare(namespaces) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount(env("OTHER_PATH").c_str(), path.c_str(), nullptr, MS_BIND, nullptr) != 0) {
    std::cout << "cannot mount: " << std::strerror(errno) << std::endl;
    return 1;
  }
  const auto store = Store::open("sqlite:" + path);
  const auto findings = store ? store->doctor() : Result<std::vector<Finding>>(store.error());
  const auto* mount = findings ? finding_about(*findings, "the file is a mount") : nullptr;
  std::cout << (mount != nullptr && mount->level == Finding::Level::danger ? "reported" : "not reported") << std::endl;
  return 0;
}

TEST_F(SqlitePlaceTest, DoctorReportsAFileThatIsMountedWithoutItsFolder) {
  const auto other = folder_.file("other.db");
  { opened(other); }
  std::ofstream(path_) << "";
  auto child = Process::self("looks_at_a_mounted_file", {{"STORE_PATH", path_}, {"OTHER_PATH", other}});
  EXPECT_EQ(child.read_line(10s), "reported");
}

}  // namespace
}  // namespace leasehold::support
