// Files that are not as they should be: read-only, corrupt, on a full disk, from a newer leasehold.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "support/job_helpers.h"
#include "support/lock_helpers.h"
#include "support/process.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class SqliteFileTest : public ::testing::Test {
 protected:
  static std::string code_of(const Result<Store>& result) {
    return result ? "ok" : leasehold::to_string(result.error().code);
  }
  TempDir folder_;
};

// Root may write to read-only files, so the child gives that right up first.
LEASEHOLD_ROLE(reads_only) {
  if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return 1;
  const auto store = Store::open(env("STORE_URL"), {.call_timeout = 2s});
  const auto answer = store ? store->locks().acquire("deploy") : Result<Grant>(store.error());
  std::cout << (answer ? "granted" : leasehold::to_string(answer.error().code)) << std::endl;
  std::cout << (answer ? "" : answer.error().message) << std::endl;
  return 0;
}

TEST_F(SqliteFileTest, AReadOnlyFileIsRefusedWithItsName) {
  const auto path = folder_.file("store.db");
  ASSERT_TRUE(ok(Store::open("sqlite:" + path)));
  ASSERT_EQ(::chmod(path.c_str(), 0444), 0);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0555), 0);
  auto child = Process::self("reads_only", {{"STORE_URL", "sqlite:" + path}});
  const auto code = child.read_line(10s).value_or("");
  EXPECT_TRUE(code == "denied" || code == "unavailable") << code;
  EXPECT_NE(child.read_line(10s).value_or("").find("store.db"), std::string::npos);
  ::chmod(folder_.path().c_str(), 0755);
}

TEST_F(SqliteFileTest, AReaderDoesNotWaitForAWriter) {
  const auto path = folder_.file("store.db");
  const auto store = Store::open("sqlite:" + path);
  ASSERT_TRUE(ok(store));
  take(store->locks(), "deploy");
  const SqliteFile writer(path);
  writer.run("BEGIN IMMEDIATE");
  const auto other = Store::open("sqlite:" + path, {.call_timeout = 1s});
  ASSERT_TRUE(ok(other));
  EXPECT_TRUE(ok(other->locks().show("deploy")));
  writer.run("ROLLBACK");
}

TEST_F(SqliteFileTest, AFolderThatIsNotThereIsNamed) {
  const auto store = Store::open("sqlite:" + folder_.file("no/such/folder/store.db"));
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, Errc::unavailable) << describe(store.error());
  EXPECT_NE(store.error().message.find("no/such/folder"), std::string::npos) << store.error().message;
}

TEST_F(SqliteFileTest, AStoreThatIsNotThereIsMadeOnlyIfWanted) {
  const auto path = folder_.file("store.db");
  const auto look = [&] { return Store::open("sqlite:" + path, {.create = false}); };
  const auto missing = look();
  EXPECT_EQ(code_of(missing), "schema_missing");
  EXPECT_NE(missing.error().message.find(path), std::string::npos) << missing.error().message;
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  SqliteFile(path).run("CREATE TABLE orders (id)");
  EXPECT_EQ(code_of(look()), "schema_missing");
  EXPECT_EQ(SqliteFile(path).rows("SELECT name FROM sqlite_master").size(), 1U) << "another program's database";
  ASSERT_TRUE(ok(Store::open("sqlite:" + path)));
  EXPECT_EQ(code_of(look()), "ok");
}

TEST_F(SqliteFileTest, AnOlderSchemaIsBroughtUpByALook) {
  const auto url = "sqlite:" + folder_.file("store.db");
  {
    const auto store = Store::open(url);
    ASSERT_TRUE(ok(store));
    ASSERT_TRUE(ok(store->migrations().down(1)));
  }
  const auto store = Store::open(url, {.create = false});
  ASSERT_TRUE(ok(store));
  EXPECT_TRUE(must(store->migrations().verify()).empty());
}

TEST_F(SqliteFileTest, AFileThatIsNoDatabaseIsDamaged) {
  const auto path = folder_.file("store.db");
  std::ofstream(path) << std::string(8192, 'x');
  const auto opened = Store::open("sqlite:" + path);
  EXPECT_EQ(code_of(opened), "damaged");
  EXPECT_NE(opened.error().message.find("not a SQLite database; if the path is right"), std::string::npos)
      << opened.error().message;
  std::string content;
  std::getline(std::ifstream(path), content);
  EXPECT_EQ(content, std::string(8192, 'x')) << "the file was not ours to change";
}

TEST_F(SqliteFileTest, ACorruptStoreIsDamagedAndNeverFree) {
  const auto path = folder_.file("store.db");
  {
    auto store = Store::open("sqlite:" + path);
    ASSERT_TRUE(ok(store));
    for (int i = 0; i < 200; ++i) take(store->locks(), "lock-" + std::to_string(i));
  }
  const auto size = std::filesystem::file_size(path);
  ASSERT_GT(size, 16384U);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(4096);
  file << std::string(size - 4096, '\xA5');
  file.close();
  auto store = Store::open("sqlite:" + path);
  const auto answer = store ? store->locks().show("lock-7") : Result<LockInfo>(store.error());
  EXPECT_TRUE(fails(answer, Errc::damaged));
  const auto taken = store ? store->locks().acquire("lock-7") : Result<Grant>(store.error());
  EXPECT_TRUE(fails(taken, Errc::damaged));
}

// The write error of a full disk in the middle of a commit: the kernel refuses to let a file grow.
LEASEHOLD_ROLE(fills_the_disk) {
  std::signal(SIGXFSZ, SIG_IGN);
  auto store = Store::open(env("STORE_URL"), {.call_timeout = 2s});
  if (!store) return 1;
  const auto first = take(store->locks(), "before");
  const rlimit limit{.rlim_cur = 200'000, .rlim_max = 200'000};
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
  for (int i = 0; i < 5000; ++i) {
    const auto grant = store->locks().acquire("lock-" + std::to_string(i), {.request_id = "r" + std::to_string(i)});
    if (grant) continue;
    std::cout << leasehold::to_string(grant.error().code) << ' ' << i << std::endl;
    const auto held = store->locks().show("before");
    std::cout << (held && held->token == first.token ? "held" : "changed") << std::endl;
    return 0;
  }
  std::cout << "never full" << std::endl;
  return 1;
}

TEST_F(SqliteFileTest, AFullDiskIsInDoubtOrUnavailableAndWhatWasGrantedStays) {
  const auto path = folder_.file("store.db");
  auto child = Process::self("fills_the_disk", {{"STORE_URL", "sqlite:" + path}});
  const auto line = child.read_line(60s).value_or("");
  EXPECT_TRUE(line.starts_with("in_doubt") || line.starts_with("unavailable")) << line;
  EXPECT_EQ(child.read_line(10s), "held");
  EXPECT_EQ(child.finish(10s).exit_code, 0);

  const auto refused = std::stoi(line.substr(line.find(' ') + 1));
  auto store = Store::open("sqlite:" + path);
  ASSERT_TRUE(ok(store));
  EXPECT_EQ(SqliteFile(path).scalar("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(SqliteFile(path).scalar("SELECT count(*) FROM leasehold_lease WHERE request_id LIKE 'r%' AND "
                                    "CAST(substr(request_id, 2) AS INTEGER) < " +
                                    std::to_string(refused)),
            std::to_string(refused))
      << "a grant that was reported is gone";
}

TEST_F(SqliteFileTest, AGateThatIsALinkIsRefusedAndNotFollowed) {
  const auto path = folder_.file("store.db");
  const auto elsewhere = folder_.file("elsewhere");
  std::filesystem::create_symlink(elsewhere, path + "-gate");
  const auto refused = Store::open("sqlite:" + path);
  ASSERT_TRUE(fails(refused, Errc::denied));
  EXPECT_NE(refused.error().message.find("store.db-gate is a symbolic link"), std::string::npos)
      << refused.error().message;
  EXPECT_FALSE(std::filesystem::exists(elsewhere));
  std::filesystem::remove(path + "-gate");
  EXPECT_TRUE(ok(Store::open("sqlite:" + path)));
}

/// Writes over the first page of a table or an index.
void overwrite_root_page(const std::string& path, const std::string& object) {
  SqliteFile file(path);
  file.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const auto size = std::stol(file.scalar("PRAGMA page_size"));
  const auto page = std::stol(file.scalar("SELECT rootpage FROM sqlite_master WHERE name = '" + object + "'"));
  std::fstream bytes(path, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp((page - 1) * size + 100);
  bytes << std::string(static_cast<std::size_t>(size) - 100, 'x');
}

TEST_F(SqliteFileTest, DoctorFindsPagesThatWereOverwritten) {
  for (const auto* object : {"leasehold_event", "leasehold_lease_request"}) {
    const auto path = folder_.file(std::string(object) + ".db");
    {
      const auto store = Store::open("sqlite:" + path);
      ASSERT_TRUE(ok(store));
      for (int i = 0; i < 100; ++i) take(store->locks(), "lock-" + std::to_string(i));
    }
    overwrite_root_page(path, object);
    const auto store = Store::open("sqlite:" + path);
    ASSERT_TRUE(ok(store)) << "nothing that is read at first is damaged";
    const auto findings = store->doctor();
    ASSERT_TRUE(ok(findings));
    EXPECT_TRUE(std::any_of(findings->begin(), findings->end(), [](const Finding& finding) {
      return finding.level == Finding::Level::danger && finding.what.starts_with("the file is damaged");
    })) << object;
  }
}

TEST_F(SqliteFileTest, DoctorFindsNoDamageWhileJobsWait) {
  const auto store = Store::open("sqlite:" + folder_.file("waiting.db"));
  ASSERT_TRUE(ok(store));
  ASSERT_TRUE(ok(store->jobs().enqueue("mail", {.payload = "{}"})));
  const auto findings = store->doctor();
  ASSERT_TRUE(ok(findings));
  for (const auto& finding : *findings) EXPECT_NE(finding.level, Finding::Level::danger) << finding.what;
}

// A disk of its own in a mount namespace of its own: both are gone with the process.
bool mount_small_disk(const std::string& folder) {
  const int namespaces = ::geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;
  return ::unshare(namespaces) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("none", folder.c_str(), "tmpfs", 0, "size=2m") == 0;
}

LEASEHOLD_ROLE(fills_a_small_disk) {
  const auto folder = env("FOLDER");
  if (!mount_small_disk(folder)) {
    std::cout << "cannot mount a tmpfs: " << std::strerror(errno) << std::endl;
    return 1;
  }
  std::ofstream(folder + "/ballast") << std::string(400'000, 'x');
  const auto store = Store::open("sqlite:" + folder + "/store.db", {.call_timeout = 2s});
  if (!store) return 1;
  const auto first = take(store->locks(), "before");
  int granted = 0;
  auto grant = store->locks().acquire("lock-0");
  while (grant && granted < 5000) grant = store->locks().acquire("lock-" + std::to_string(++granted));
  std::cout << (grant ? "never full" : leasehold::to_string(grant.error().code)) << std::endl;

  std::filesystem::remove(folder + "/ballast");
  const auto after = store->locks().acquire("after");
  std::cout << (after ? "granted" : describe(after.error())) << std::endl;
  const auto held = store->locks().list({.only_held = true, .max = 10'000});
  // The change whose answer was in doubt may be there or not.
  const auto extra = held ? static_cast<int>(held->size()) - granted - 2 : -1;
  std::cout << (extra == 0 || extra == 1 ? "all there" : "lost: " + std::to_string(extra)) << std::endl;
  std::cout << (store->locks().heartbeat("before", first.token) ? "alive" : "lost") << std::endl;
  return 0;
}

TEST_F(SqliteFileTest, AfterMakingRoomOnAFullDiskItGoesOnAndNothingIsLost) {
  auto child = Process::self("fills_a_small_disk", {{"FOLDER", folder_.path()}});
  const auto code = child.read_line(60s).value_or("");
  EXPECT_TRUE(code == "in_doubt" || code == "unavailable") << code;
  EXPECT_EQ(child.read_line(10s), "granted");
  EXPECT_EQ(child.read_line(10s), "all there");
  EXPECT_EQ(child.read_line(10s), "alive");
}

TEST_F(SqliteFileTest, ANewerSchemaIsRefusedWithAdvice) {
  const auto path = folder_.file("store.db");
  ASSERT_TRUE(ok(Store::open("sqlite:" + path)));
  const SqliteFile file(path);
  const auto table = file.scalar("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%migration%'");
  ASSERT_FALSE(table.empty());
  file.run("UPDATE " + table + " SET version = 9999 WHERE version = (SELECT max(version) FROM " + table + ")");
  const auto refused = Store::open("sqlite:" + path);
  ASSERT_TRUE(fails(refused, Errc::schema_newer));
  EXPECT_NE(refused.error().message.find("newer"), std::string::npos) << refused.error().message;
}

TEST_F(SqliteFileTest, AnotherProgramsTablesStayAsTheyWere) {
  const auto path = folder_.file("app.db");
  SqliteFile(path).run("CREATE TABLE site (release INTEGER); INSERT INTO site VALUES (41)");
  auto store = Store::open("sqlite:" + path);
  ASSERT_TRUE(ok(store));
  take(store->locks(), "deploy");
  EXPECT_EQ(SqliteFile(path).scalar("SELECT release FROM site"), "41");
}

TEST_F(SqliteFileTest, AStoreInMemoryWorksAndIsForgotten) {
  for (int i = 0; i < 2; ++i) {
    auto store = Store::open("sqlite::memory:");
    ASSERT_TRUE(ok(store));
    const auto grant = store->locks().acquire("deploy");
    ASSERT_TRUE(ok(grant));
    EXPECT_TRUE(fails(store->locks().acquire("deploy", {}, by("bob")), Errc::held));
    EXPECT_TRUE(ok(store->locks().release("deploy", grant->token)));
  }
}

TEST_F(SqliteFileTest, DurableByDefaultAndInWalMode) {
  auto store = Store::open("sqlite:" + folder_.file("store.db"));
  ASSERT_TRUE(ok(store));
  EXPECT_EQ(SqliteFile(folder_.file("store.db")).scalar("PRAGMA journal_mode"), "wal");
}

}  // namespace
}  // namespace leasehold::support
