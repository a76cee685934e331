// leasehold top: what stands where on a screen of a certain size. No store, no terminal.
#include "cli/top/layout.h"

#include "cli/print/print.h"
#include "cli/tool.h"

namespace leasehold::cli {
namespace {

using namespace std::chrono_literals;
using support::contains;

constexpr Timestamp now{std::chrono::hours(500'000)};

LeaseInfo lease(const std::string& kind, const std::string& key, Duration left) {
  LeaseInfo info;
  info.kind = kind;
  info.key = key;
  info.state = left > Duration(0) ? LeaseState::running : LeaseState::expired;
  info.holder.name = "ana";
  info.holder.host = "box";
  info.heartbeat_at = now - 3s;
  info.expires_at = now + left;
  info.store_now = now;
  return info;
}

SessionInfo session(const std::string& id, SessionState status, const std::string& item) {
  SessionInfo info;
  info.id = id;
  info.state = status;
  info.label = "working on " + item;
  info.holder.host = "box";
  info.holder.tty = "/dev/pts/3";
  info.claims = item.empty() ? 0 : 1;
  info.item = item;
  if (!item.empty()) info.item_taken_at = now - 41min;
  info.heartbeat_at = now - 12s;
  info.progress_at = now - 3min;
  info.store_now = now;
  return info;
}

ScheduleInfo schedule(const std::string& name, ScheduleState state, Duration next) {
  ScheduleInfo info;
  info.name = name;
  info.state = state;
  info.options.rule = CronRule{.expression = "@hourly"};
  info.next_run_at = now + next;
  info.wall_now = now;
  return info;
}

Event event(std::int64_t id, const std::string& key, const std::string& what) {
  Event reported;
  reported.id = id;
  reported.at = now;
  reported.kind = "lock";
  reported.key = key;
  reported.what = what;
  reported.holder = Holder{.name = "ana"};
  return reported;
}

QueueInfo queue(const std::string& name) {
  QueueInfo info;
  info.name = name;
  info.available = 1234;
  info.running = 16;
  info.failed = 2;
  info.completed_last_minute = 99;
  info.oldest_at = now - 5min;
  info.store_now = now;
  return info;
}

TopPicture busy_picture() {
  TopPicture picture;
  picture.taken_at = now;
  picture.leases = {lease("lock", "deploy", 20s), lease("lock", "backup", -4s), lease("job", "17", 30s)};
  picture.queues = {queue("mail"), queue("merge")};
  ChunkSetInfo set;
  set.name = "orders";
  set.state = ChunkSetState::running;
  set.total = 40;
  set.completed = 16;
  set.running = 3;
  set.rows = 160'000;
  picture.chunk_sets = {{.set = set, .pace = ChunkPace{.rows_per_second = 1250, .chunks_per_minute = 4, .left = 3min}}};
  picture.sessions = {session("s-1", SessionState::active, "SD-1"), session("s-2", SessionState::idle, ""),
                      session("s-3", SessionState::stale, "SD-3")};
  picture.schedules = {schedule("refresh", ScheduleState::waiting, 7min), schedule("report", ScheduleState::due, -2s)};
  for (int i = 30; i > 0; --i) picture.events.push_back(event(i, "key-" + std::to_string(i), "acquired"));
  return picture;
}

const TopHead quiet_head{.store = "sqlite:work.db", .clock = "14:03:22", .trouble = ""};

TopFrame drawn(const TopPicture& picture, const TopView& view, ScreenSize size, const TopHead& head = quiet_head) {
  return laid_out(panels_of(picture), view, head, size);
}

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

TopView choosing(std::size_t panel) {
  TopView view;
  view.chosen = panel;
  return view;
}

TEST(TopLayout, EveryPanelHasItsShareOfAnOrdinaryScreen) {
  const auto frame = drawn(busy_picture(), {}, {.columns = 80, .lines = 24});
  ASSERT_EQ(frame.lines.size(), 24U);
  EXPECT_EQ(frame.lines.front(), "leasehold top  sqlite:work.db                                           14:03:22");
  const auto text = text_of(frame.lines);
  for (const auto* part :
       {"── 1 leases  2 held, 1 expired (1 more) ──", "── 2 queues  2468 available, 32 running, 4 failed ──",
        "── 3 chunks  1 set at work ──", "── 4 sessions  1 active, 1 idle, 1 stale (1 more) ──",
        "── 5 schedules  1 due, 1 waiting ──", "── 6 events  newest first (", "lock  backup  expired  now",
        "mail        1234       16       2", "orders  [########............]  40%",
        "s-3      stale   SD-3  12s ago    3m ago    41m ago", "report    due      now    -     -       @hourly",
        "lock  key-30  acquired  ana"}) {
    EXPECT_TRUE(contains(text, part));
  }
  EXPECT_TRUE(contains(frame.lines.back(), "q quit"));
}

TEST(TopLayout, NoLineIsWiderAndNoneMoreThanTheScreenHasRoomFor) {
  auto picture = busy_picture();
  picture.sessions.push_back(session("長い名前のセッション🦀", SessionState::active, "カード-1"));
  picture.leases.push_back(lease("lock", "tab\tnewline\nescape\x1b[2J", 3s));
  for (const std::size_t lines : {0U, 1U, 2U, 3U, 5U, 6U, 7U, 10U, 24U, 50U}) {
    for (const std::size_t columns : {0U, 1U, 2U, 3U, 10U, 39U, 40U, 79U, 80U, 81U, 200U}) {
      for (std::size_t panel = 0; panel <= 6; ++panel) {
        auto view = choosing(panel);
        view.help = panel == 3;
        const auto frame = drawn(picture, view, {.columns = columns, .lines = lines});
        EXPECT_LE(frame.lines.size(), lines);
        for (const auto& line : frame.lines) {
          EXPECT_LE(width_of(line), columns) << line;
          EXPECT_EQ(line.find_first_of("\t\n\x1b"), std::string::npos) << line;
        }
      }
    }
  }
}

TEST(TopLayout, ASmallScreenHasALineForEachPanel) {
  const auto frame = drawn(busy_picture(), {}, {.columns = 40, .lines = 10});
  const auto text = text_of(frame.lines);
  ASSERT_EQ(frame.lines.size(), 10U);
  for (const auto* part :
       {"── 1 leases  2 held, 1 expired ", "── 2 queues  2468 available, 32 running", "── 3 chunks",
        "── 4 sessions  1 active, 1 idle, 1 stal", "── 5 schedules  1 due, 1 waiting", "── 6 events", "q quit"}) {
    EXPECT_TRUE(contains(text, part));
  }
}

TEST(TopLayout, ANarrowTerminalDropsTheLastColumns) {
  const auto narrow = text_of(drawn(busy_picture(), choosing(4), {.columns = 40, .lines = 10}).lines);
  EXPECT_TRUE(contains(narrow,
                       " 1 2 3 [4 sessions] 5 6\n1 active, 1 idle, 1 stale\nSESSION  STATUS  ITEM  HEARTBEAT\ns-3      "
                       "stale   SD-3  12s ago\n"));
  const auto wide = text_of(drawn(busy_picture(), choosing(4), {.columns = 120, .lines = 10}).lines);
  EXPECT_TRUE(contains(wide, "SESSION  STATUS  ITEM  HEARTBEAT  PROGRESS  CLAIMED  LABEL "));
  EXPECT_TRUE(contains(wide, "working on SD-3"));
}

TEST(TopLayout, TheChosenPanelHasTheWholeScreenAndScrolls) {
  auto view = choosing(6);
  view.first_row = 4;
  const auto frame = drawn(busy_picture(), view, {.columns = 80, .lines = 15});
  EXPECT_EQ(frame.page, 10U);
  EXPECT_EQ(frame.lines[1], "  1 leases   2 queues   3 chunks   4 sessions   5 schedules  [6 events]");
  EXPECT_EQ(frame.lines[2], "newest first  rows 5-14 of 30");
  EXPECT_TRUE(contains(frame.lines[4], "key-26"));
  EXPECT_TRUE(contains(frame.lines[13], "key-17"));
}

TEST(TopLayout, ScrollingEndsWithTheLastRow) {
  auto view = choosing(6);
  view.press({TopKey::bottom}, 6, 10);
  view.press({TopKey::page_down}, 6, 10);
  const auto frame = drawn(busy_picture(), view, {.columns = 80, .lines = 15});
  EXPECT_EQ(frame.first_row, 20U);
  EXPECT_TRUE(contains(frame.lines[13], "key-1 "));
}

TEST(TopLayout, MissingFiguresAreMarked) {
  auto head = quiet_head;
  head.trouble = "store unreachable, trying again: connection refused";
  TopView view;
  view.paused = true;
  const auto frame = drawn(busy_picture(), view, {.columns = 80, .lines = 24}, head);
  EXPECT_TRUE(contains(frame.lines[0], "paused at 14:03:22"));
  EXPECT_EQ(frame.lines[1], head.trouble);
  EXPECT_EQ(frame.lines.size(), 24U);
}

TEST(TopLayout, AnEmptyStoreIsShownAsSuch) {
  const auto text = text_of(drawn({}, {}, {.columns = 80, .lines = 24}).lines);
  for (const auto* part : {"1 leases  none", "2 queues  none", "3 chunks  none at work", "4 sessions  none",
                           "5 schedules  none", "6 events  none"}) {
    EXPECT_TRUE(contains(text, part));
  }
}

TEST(TopLayout, AListThatWasCutIsCalledSo) {
  TopPicture picture;
  for (int i = 0; i < TopReader::most_rows; ++i) picture.leases.push_back(lease("lock", std::to_string(i), 20s));
  const auto text = text_of(drawn(picture, {}, {.columns = 80, .lines = 24}).lines);
  EXPECT_TRUE(contains(text, "── 1 leases  of the first 500: 500 held (485 more) ──"));
}

TEST(TopLayout, AWideCharacterIsNotCutInHalf) {
  EXPECT_EQ(clipped("日本語", 5), "日本");
  EXPECT_EQ(clipped("ab\x1b[31mcdef\x1b[0m", 4), "ab\x1b[31mcd\x1b[0m");
  EXPECT_EQ(clipped("short", 80), "short");
}

TEST(TopView, KeysChooseScrollPauseAndEnd) {
  TopView view;
  view.press({TopKey::panel, 4}, 5, 10);
  EXPECT_EQ(view.chosen, 4U);
  view.press({TopKey::panel, 9}, 5, 10);
  EXPECT_EQ(view.chosen, 4U) << "there is no such panel";
  view.press({TopKey::page_down}, 5, 10);
  view.press({TopKey::up}, 5, 10);
  EXPECT_EQ(view.first_row, 9U);
  view.press({TopKey::page_up}, 5, 10);
  EXPECT_EQ(view.first_row, 0U);
  view.press({TopKey::next_panel}, 5, 10);
  view.press({TopKey::next_panel}, 5, 10);
  EXPECT_EQ(view.chosen, TopView::overview) << "after the last one";
  view.press({TopKey::previous_panel}, 5, 10);
  EXPECT_EQ(view.chosen, 5U);
  view.press({TopKey::pause}, 5, 10);
  view.press({TopKey::help}, 5, 10);
  EXPECT_TRUE(view.paused && view.help && !view.ended);
  view.press({TopKey::overview}, 5, 10);
  EXPECT_FALSE(view.help);
  view.press({TopKey::quit}, 5, 10);
  EXPECT_TRUE(view.ended);
}

TEST(TopKeys, SequencesAreUnderstoodAlsoInPieces) {
  TopKeys keys;
  EXPECT_EQ(keys.take("q2\t"), (std::vector<TopKey>{{TopKey::quit}, {TopKey::panel, 2}, {TopKey::next_panel}}));
  EXPECT_EQ(keys.take("\x1b[A\x1bOB\x1b[5~\x1b[6~\x1b[Z"),
            (std::vector<TopKey>{
                {TopKey::up}, {TopKey::down}, {TopKey::page_up}, {TopKey::page_down}, {TopKey::previous_panel}}));
  EXPECT_TRUE(keys.take("\x1b").empty());
  EXPECT_TRUE(keys.expects_more());
  EXPECT_TRUE(keys.take("[5").empty());
  EXPECT_EQ(keys.take("~"), std::vector<TopKey>{{TopKey::page_up}});
  EXPECT_FALSE(keys.expects_more());
}

TEST(TopKeys, ASingleEscapeLeadsBack) {
  TopKeys keys;
  EXPECT_TRUE(keys.take("\x1b").empty());
  EXPECT_EQ(keys.give_up_waiting(), std::vector<TopKey>{{TopKey::overview}});
  EXPECT_EQ(keys.take("\x1bq"), (std::vector<TopKey>{{TopKey::overview}, {TopKey::quit}}));
  EXPECT_TRUE(keys.take("\x1b[200;3x\x01zZ").empty()) << "keys that mean nothing";
}

}  // namespace
}  // namespace leasehold::cli
