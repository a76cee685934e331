#include "cli/top/picture.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "cli/print/print.h"
#include "cli/store_trouble.h"
#include "model/json.h"
#include "run/signals.h"

namespace leasehold::cli {
namespace {

bool is_at_work(const ChunkSetInfo& set) {
  return set.state != ChunkSetState::complete && set.state != ChunkSetState::partial;
}

/// Puts the result into `part`, or the error.
template <typename T>
Result<void> put(T& part, Result<T> found) {
  if (!found) return std::move(found).error();
  part = std::move(*found);
  return {};
}

}  // namespace

std::string to_json(const TopPicture& picture) {
  std::vector<ChunkSetInfo> sets;
  for (const auto& at_work : picture.chunk_sets) sets.push_back(at_work.set);
  return fmt::format(R"({{"leases":{},"queues":{},"chunk_sets":{},"sessions":{},"schedules":{},"events":{}}})",
                     model::array_to_json(picture.leases), model::array_to_json(picture.queues),
                     model::array_to_json(sets), model::array_to_json(picture.sessions),
                     model::array_to_json(picture.schedules), model::array_to_json(picture.events));
}

Result<std::vector<ChunkSetAtWork>> TopReader::read_chunk_sets() {
  auto sets = store_.chunks().sets();
  if (!sets) return std::move(sets).error();
  std::erase_if(*sets, [](const ChunkSetInfo& set) { return !is_at_work(set); });
  // A set that is final or removed begins a new count when it comes back.
  std::map<std::string, RecentPace> paces;
  std::vector<ChunkSetAtWork> at_work;
  for (auto& set : *sets) {
    auto& pace = paces[set.name] = std::move(paces_[set.name]);
    pace.add(set);
    at_work.push_back({.set = std::move(set), .pace = pace.pace()});
  }
  paces_ = std::move(paces);
  return at_work;
}

namespace {

template <typename T>
Result<std::vector<T>> items_of(Result<Page<T>> page) {
  if (!page) return std::move(page).error();
  return std::move(page->items);
}

}  // namespace

Result<TopPicture> TopReader::read() {
  TopPicture picture{.taken_at = wall_clock()};
  if (auto got = put(picture.leases, items_of(store_.leases({.max = most_rows}))); !got) return std::move(got).error();
  if (auto got = put(picture.queues, store_.queues().list()); !got) return std::move(got).error();
  if (auto got = put(picture.chunk_sets, read_chunk_sets()); !got) return std::move(got).error();
  if (auto got = put(picture.sessions, items_of(store_.sessions().list({.max = most_rows}))); !got)
    return std::move(got).error();
  if (auto got = put(picture.schedules, items_of(store_.schedules().list({.max = most_rows}))); !got)
    return std::move(got).error();
  if (auto got = put(picture.events, items_of(store_.events({.max = events_}))); !got) return std::move(got).error();
  std::reverse(picture.events.begin(), picture.events.end());
  return picture;
}

namespace {

/// Changes wake the thread, but looking at every one of them would burden a busy store...
constexpr Duration shortest_pause = std::chrono::milliseconds(200);
/// ...and if a look takes long, the pause is this many times its duration.
constexpr int pause_per_look = 4;
/// The shortest pause for an unreachable store.
constexpr Duration pause_in_trouble = std::chrono::seconds(1);

std::string trouble_line(const Error& error) {
  return fmt::format("{}, trying again: {}", may_come_back(error) ? "store unreachable" : "cannot read the store",
                     printable(error.message));
}

}  // namespace

struct TopFeed::State {
  State(Store its_store, TopReader its_reader, TopPicture first, Duration look_every)
      : store(std::move(its_store)), reader(std::move(its_reader)), every(look_every), news{std::move(first), {}} {}

  void run();
  /// False: the feed has ended.
  bool pause(Duration at_least);
  void publish(Result<TopPicture> picture);

  const Store store;
  TopReader reader;  ///< belongs to the thread
  const Duration every;
  const run::UniqueFd bell{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};

  std::mutex mutex;
  std::condition_variable changed;
  TopNews news;
  bool paused = false;
  bool over = false;
};

void TopFeed::State::run() {
  while (pause(std::min(shortest_pause, every))) {
    const auto began = BootClock::now();
    auto picture = reader.read();
    const bool trouble = !picture.ok();
    const Duration took = BootClock::now() - began;
    publish(std::move(picture));
    if (!pause(trouble ? pause_in_trouble : std::min(pause_per_look * took, every))) return;
    if (!trouble) store.wait_for_change(every - std::min(every, shortest_pause));
  }
}

bool TopFeed::State::pause(Duration at_least) {
  std::unique_lock lock(mutex);
  changed.wait_for(lock, at_least, [&] { return over; });
  changed.wait(lock, [&] { return over || !paused; });
  return !over;
}

void TopFeed::State::publish(Result<TopPicture> picture) {
  {
    const std::lock_guard lock(mutex);
    news.trouble = picture ? "" : trouble_line(picture.error());
    if (picture) news.picture = std::move(*picture);
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto rung = ::write(bell.get(), &one, sizeof one);
}

TopFeed::TopFeed(Store store, TopReader reader, TopPicture first, Duration every)
    : state_(std::make_shared<State>(std::move(store), std::move(reader), std::move(first), every)) {
  std::thread([state = state_] { state->run(); }).detach();
}

TopFeed::~TopFeed() {
  const std::lock_guard lock(state_->mutex);
  state_->over = true;
  state_->changed.notify_all();
}

int TopFeed::fd() const { return state_->bell.get(); }

TopNews TopFeed::take() const {
  std::uint64_t rung = 0;
  [[maybe_unused]] const auto read = ::read(state_->bell.get(), &rung, sizeof rung);
  const std::lock_guard lock(state_->mutex);
  return state_->news;
}

void TopFeed::set_paused(bool paused) const {
  const std::lock_guard lock(state_->mutex);
  state_->paused = paused;
  state_->changed.notify_all();
}

}  // namespace leasehold::cli
