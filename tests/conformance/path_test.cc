// Files and folders that sessions hold: a folder excludes what is in it, and a file the folders above it.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <filesystem>
#include <fstream>
#include <thread>

#include "support/dead_holder.h"
#include "support/session_helpers.h"
#include "support/temp_dir.h"

namespace leasehold::support {
namespace {

namespace fs = std::filesystem;

class PathTest : public SessionStoreTest {
 protected:
  /// Paths of a worktree at `root`.
  Result<PathsTaken> try_paths(const Grant& session, const Words& paths, bool repo_wide = false) {
    return claims().take_paths(session.key, session.token, paths, {.directory = root(), .repo_wide = repo_wide});
  }
  PathsTaken paths(const Grant& session, const Words& wanted) { return must(try_paths(session, wanted)); }
  std::int64_t give_back(const Grant& session, const Words& paths = {}) {
    return must(claims().release_paths(session.key, session.token, paths, {.directory = root()}));
  }
  [[nodiscard]] std::string root() const { return folder_.path().string(); }
  [[nodiscard]] std::string in_root(const std::string& name) const {
    return (fs::canonical(folder_.path()) / name).string();
  }
  Words held() {
    Words shown;
    for (const auto& info : must(claims().list_paths())) shown.push_back(info.session + " " + info.path);
    return shown;
  }
  /// The owner that a refusal names: "ann a/b", the path below the root.
  std::string in_the_way(const Result<PathsTaken>& refused) {
    if (refused || !refused.error().held_by) return {};
    const auto& owner = *refused.error().held_by;
    return owner.session + " " + fs::path(owner.key).lexically_relative(fs::canonical(root())).string();
  }
  void folder(const std::string& name) { fs::create_directories(fs::path(root()) / name); }
  void file(const std::string& name, const std::string& text = {}) {
    std::ofstream(fs::path(root()) / name) << text << "\n";
  }

 private:
  TempDir folder_;
};
LEASEHOLD_ON_BOTH_STORES(PathTest);

TEST_P(PathTest, AFolderExcludesWhatIsInItAndAFileTheFoldersAboveIt) {
  const auto ann = join("ann");
  const auto bob = join("bob");
  EXPECT_EQ(paths(ann, {"src/parser", "doc/a.md"}).added, 2);
  EXPECT_EQ(in_the_way(try_paths(bob, {"src/parser/lexer.cc"})), "ann src/parser") << "in a folder of ann";
  EXPECT_EQ(in_the_way(try_paths(bob, {"src"})), "ann src/parser") << "a folder above one of ann";
  EXPECT_EQ(in_the_way(try_paths(bob, {"."})), "ann doc/a.md");
  EXPECT_EQ(in_the_way(try_paths(bob, {"doc/a.md"})), "ann doc/a.md");
  EXPECT_EQ(in_the_way(try_paths(bob, {"doc/a.md/x"})), "ann doc/a.md");
  EXPECT_TRUE(ok(try_paths(bob, {"src/parser2", "src/parser.cc", "src/parse", "doc/b.md", "doc/a.md2"})))
      << "names beside each other pass";
  EXPECT_TRUE(ok(try_paths(ann, {"src/parser/lexer.cc"}))) << "its own folder";
  const auto refused = try_paths(bob, {"src/parser"});
  EXPECT_TRUE(fails(refused, Errc::held));
  EXPECT_EQ(refused.error().held_by->token, Token{}) << "a refusal has no proof in it";
  EXPECT_EQ(refused.error().retry_in, Duration(30s));
  EXPECT_NE(refused.error().message.find("src/parser"), std::string::npos);
}

TEST_P(PathTest, AllOrNone) {
  const auto ann = join("ann");
  const auto bob = join("bob");
  paths(ann, {"b"});
  const auto before = dump();
  EXPECT_EQ(in_the_way(try_paths(bob, {"a", "b", "c"})), "ann b");
  EXPECT_EQ(dump(), before) << "a refused call has taken something";
  EXPECT_EQ(paths(ann, {"a", "b", "b"}).added, 1) << "it had b before";
  EXPECT_EQ(give_back(ann, {"a", "nothing"}), 1);
  EXPECT_EQ(give_back(ann, {"a"}), 0) << "repeating is harmless";
  EXPECT_TRUE(ok(try_paths(bob, {"a"})));
  EXPECT_EQ(give_back(ann), 1);
  EXPECT_EQ(held(), Words{"bob " + in_root("a")});
}

TEST_P(PathTest, TheSameFileIsTheSameHoweverItIsWritten) {
  folder("real/deep");
  fs::create_directory_symlink("real", fs::path(root()) / "link");
  file("real/file");
  const auto ann = join("ann");
  const auto bob = join("bob");
  paths(ann, {"link/../real/./deep/"});
  for (const auto* same : {"real/deep", "link/deep", "./real//deep", "link/deep/new", "real/deep/../deep"}) {
    EXPECT_EQ(in_the_way(try_paths(bob, {same})), "ann real/deep") << same;
  }
  EXPECT_EQ(in_the_way(try_paths(bob, {in_root("real/deep")})), "ann real/deep") << "absolute";
  EXPECT_TRUE(ok(try_paths(bob, {"link/file"})));
  EXPECT_EQ(in_the_way(try_paths(ann, {"real/file"})), "bob real/file");
  EXPECT_TRUE(fails(try_paths(bob, {""}), Errc::invalid_argument));
  EXPECT_TRUE(fails(try_paths(bob, {}), Errc::invalid_argument));
  EXPECT_TRUE(fails(try_paths(bob, Words(bounds::max_paths + 1, "x")), Errc::invalid_argument));
  EXPECT_TRUE(fails(try_paths(bob, {std::string(bounds::path_bytes, 'x')}), Errc::invalid_argument));
  EXPECT_TRUE(fails(try_paths(bob, {"bad\xff"}), Errc::invalid_argument));
}

TEST_P(PathTest, WorktreesOfARepositoryAreApartUnlessTheCallerAsks) {
  folder("one/.git/worktrees/two");
  file("one/.git/worktrees/two/commondir", "../..");
  folder("two/src");
  file("two/.git", "gitdir: " + in_root("one/.git/worktrees/two"));
  const auto ann = join("ann");
  const auto bob = join("bob");
  paths(ann, {"one/src/a.cc"});
  EXPECT_TRUE(ok(try_paths(bob, {"two/src/a.cc"}))) << "another worktree has another file";
  EXPECT_TRUE(ok(try_paths(ann, {"one/src"}, true)));
  const auto refused = try_paths(bob, {"two/src/a.cc"}, true);
  ASSERT_TRUE(fails(refused, Errc::held));
  EXPECT_EQ(refused.error().held_by->key, "src");
  EXPECT_TRUE(ok(try_paths(bob, {"two/doc"}, true)));
  EXPECT_TRUE(fails(try_paths(ann, {"one"}, true), Errc::held)) << "the whole worktree";
  const auto shown = must(claims().list_paths({.session = "ann"}));
  ASSERT_EQ(shown.items.size(), 2U);
  EXPECT_EQ(shown.items[1].repository + " " + shown.items[1].path, in_root("one/.git") + " src");
}

TEST_P(PathTest, PathsLiveAndEndWithTheirSession) {
  const auto ann = join("ann");
  paths(ann, {"a"});
  advance(20s);
  must(beat(ann));
  const auto bob = join("bob");
  EXPECT_TRUE(fails(try_paths(bob, {"a"}), Errc::held));
  must(sessions().close("ann", ann.token, "done"));
  EXPECT_EQ(held(), Words{});
  EXPECT_TRUE(ok(try_paths(bob, {"a"})));
  must(sessions().revoke("bob", "no"));
  EXPECT_EQ(held(), Words{});
  const auto cid = join("cid");
  paths(cid, {"a", "b"});
  EXPECT_TRUE(must(items().list()).items.empty()) << "paths are no items of the backlog";
  EXPECT_EQ(last_event(must(store().events({.max = 1})).at(0).key).kind, "path");
}

TEST_P(PathTest, Promise06_TheStaleAndTheDeadBlockNothing) {
  const auto ann = join("ann");
  paths(ann, {"a/b", "c"});
  advance(31s);
  const auto bob = join("bob");
  EXPECT_EQ(must(claims().paths_in_the_way("a", {}, {.directory = root()})).size(), 0U);
  EXPECT_TRUE(ok(try_paths(bob, {"a"})));
  EXPECT_EQ(held(), Words{"bob " + in_root("a")}) << "the stale session has ended, with all that it had";
  EXPECT_TRUE(fails(try_paths(ann, {"d"}), Errc::unregistered));
  const auto dead = must(sessions().open(session_of("dead"), {.holder = dead_holder("dead")}));
  must(store().claims().release_paths("bob", bob.token));
  EXPECT_TRUE(fails(try_paths(dead, {"x"}), Errc::unregistered)) << "its process is gone";
  EXPECT_TRUE(ok(try_paths(bob, {"x/y"})));
}

TEST_P(PathTest, Promise04_ALateHolderReleasesNothing) {
  const auto ann = join("ann");
  paths(ann, {"a"});
  advance(31s);
  const auto again = join("ann");
  paths(again, {"a"});
  EXPECT_TRUE(fails(claims().release_paths("ann", ann.token), Errc::unregistered));
  EXPECT_TRUE(fails(claims().release_paths("nobody", ann.token), Errc::unregistered));
  EXPECT_EQ(held(), Words{"ann " + in_root("a")});
}

TEST_P(PathTest, ALookNamesTheOwnersInTheWay) {
  const auto ann = join("ann");
  const auto bob = join("bob");
  paths(ann, {"a/b", "a/c"});
  const auto look = [&](const std::string& path, const std::string& as) {
    return must(claims().paths_in_the_way(path, as, {.directory = root()})).size();
  };
  EXPECT_EQ(look("a", "bob"), 2U);
  EXPECT_EQ(look("a/b/x", "bob"), 1U);
  EXPECT_EQ(look("a/d", "bob"), 0U);
  EXPECT_EQ(look("a", "ann"), 0U) << "its own are not in the way";
  EXPECT_EQ(look("a", ""), 2U);
}

TEST_P(PathTest, Promise03_OfManyAtOnceOneGetsAFolderOrOthersGetWhatIsInIt) {
  constexpr int agents = 8;
  for (int round = 0; round < 5; ++round) {
    std::vector<Grant> own;
    for (int i = 0; i < agents; ++i) own.push_back(join("r" + std::to_string(round) + "-" + std::to_string(i)));
    const auto base = "r" + std::to_string(round);
    std::vector<Store> stores;
    for (int i = 0; i < 4; ++i) stores.push_back(open());
    std::barrier start(agents);
    std::atomic<int> folders{0};
    std::atomic<int> files{0};
    {
      std::vector<std::jthread> racers;
      for (int i = 0; i < agents; ++i) {
        racers.emplace_back([&, i] {
          const auto& session = own[static_cast<std::size_t>(i)];
          const bool whole = i % 2 == 0;
          start.arrive_and_wait();
          const auto taken = stores[static_cast<std::size_t>(i) % stores.size()].claims().take_paths(
              session.key, session.token, {whole ? base : base + "/f" + std::to_string(i)}, {.directory = root()});
          if (taken) ++(whole ? folders : files);
          EXPECT_TRUE(taken || taken.error().code == Errc::held);
        });
      }
    }
    EXPECT_TRUE((folders == 1 && files == 0) || (folders == 0 && files == agents / 2))
        << folders << " folders, " << files << " files";
  }
}

}  // namespace
}  // namespace leasehold::support
