#include "serve/rows.h"

#include <fmt/format.h>

#include <functional>
#include <type_traits>
#include <utility>
#include <variant>

#include "model/described.h"
#include "model/json.h"

namespace leasehold::serve {
namespace {

/// About as many as fit into a frame: a client draws the first rows while the next ones are under way.
constexpr std::size_t rows_per_frame = 250;
constexpr std::size_t bytes_per_frame = std::size_t{1} << 18;
/// The most bytes of a session's metadata; the stream leaves out larger ones.
constexpr std::size_t max_metadata = std::size_t{1} << 12;

// Fingerprints.

constexpr std::uint64_t mixed(std::uint64_t seed, std::uint64_t value) {
  seed ^= value + 0x9E3779B97F4A7C15U + (seed << 6U) + (seed >> 2U);
  return seed * 0xFF51AFD7ED558CCDU;
}

std::uint64_t fingerprint(const model::Object& object);

struct Fingerprint {
  std::uint64_t operator()(std::monostate) const { return 1; }
  std::uint64_t operator()(bool value) const { return value ? 2 : 3; }
  std::uint64_t operator()(std::int64_t value) const { return mixed(4, static_cast<std::uint64_t>(value)); }
  std::uint64_t operator()(Duration value) const { return (*this)(std::int64_t{value.count()}); }
  std::uint64_t operator()(Timestamp value) const { return (*this)(value.time_since_epoch()); }
  std::uint64_t operator()(const std::string& value) const { return mixed(5, std::hash<std::string>()(value)); }
  std::uint64_t operator()(const model::Object& value) const { return fingerprint(value); }
  template <typename T>
  std::uint64_t operator()(const std::vector<T>& list) const {
    std::uint64_t mark = 6;
    for (const auto& one : list) mark = mixed(mark, (*this)(one));
    return mark;
  }
};

/// Ages and remaining times follow from the clock, and the clock itself always moves.
bool moves_by_itself(const model::Field& field) {
  const bool is_derived = field.member.empty() && field.kind != model::Kind::inlined;
  return is_derived || field.name == "store_now" || field.name == "wall_now";
}

std::uint64_t fingerprint(const model::Object& object) {
  std::uint64_t mark = 0;
  for (const auto& field : object.type.fields) {
    if (field.kind == model::Kind::hidden || field.proof || moves_by_itself(field)) continue;
    mark = mixed(mark, std::visit(Fingerprint(), field.get(object.at)));
  }
  return mark;
}

// Rows.

void shorten(SessionInfo& session) {
  if (session.metadata.size() > max_metadata) session.metadata = "null";
}
template <typename T>
void shorten(const T& /*row*/) {}

std::string name_of(const LeaseInfo& lease) { return lease.kind + "/" + lease.key; }
std::string name_of(const QueueInfo& queue) { return queue.name; }
std::string name_of(const SessionInfo& session) { return session.id; }
std::string name_of(const ScheduleInfo& schedule) { return schedule.name; }
std::string name_of(const ChunkSetInfo& set) { return set.name; }
std::string name_of(const WorkerInfo& worker) { return std::to_string(worker.lease_id); }

/// Several processes may share a lock: their tokens tell them apart.
std::uint64_t apart(const LeaseInfo& lease) { return mixed(7, static_cast<std::uint64_t>(lease.token.value)); }
template <typename T>
std::uint64_t apart(const T& /*row*/) {
  return 0;
}

template <typename T>
Rows rows_of(Topic topic, std::vector<T> items, bool truncated) {
  std::unordered_map<std::string, int> shares;
  for (const auto& item : items) ++shares[name_of(item)];
  auto kept = std::make_shared<std::vector<T>>(std::move(items));
  Rows rows{.topic = topic, .truncated = truncated};
  rows.rows.reserve(kept->size());
  for (auto& item : *kept) {
    auto name = name_of(item);
    if (shares[name] > 1) name += fmt::format("#{:x}", apart(item));
    shorten(item);
    const auto object = model::object_of(item);
    rows.rows.push_back({.name = std::move(name), .fingerprint = fingerprint(object), .object = object});
  }
  rows.keep = std::move(kept);
  return rows;
}

template <typename T>
Result<Rows> rows_from(Topic topic, Result<Page<T>> page) {
  if (!page) return std::move(page).error();
  return rows_of(topic, std::move(page->items), page->next.has_value());
}

template <typename T>
Result<Rows> rows_from(Topic topic, Result<std::vector<T>> list) {
  if (!list) return std::move(list).error();
  const bool truncated = list->size() > max_rows;
  if (truncated) list->resize(max_rows);
  return rows_of(topic, std::move(*list), truncated);
}

std::string encoded(const Row& row) {
  // {"row":"lock/deploy", and the members of the row.
  auto name = model::json_object({{"row", row.name}});
  name.back() = ',';
  return name + model::to_json(row.object, model::Proofs::hidden).substr(1);
}

/// Cuts the rows and names into frames.
class Frames {
 public:
  Frames(const Rows& rows, bool full) : topic_(rows.topic), truncated_(rows.truncated), full_(full) {}

  void put(const Row& row) { add(put_, encoded(row)); }
  void gone(const std::string& name) { add(gone_, model::to_json(model::Value(name))); }

  /// At least one if `even_empty`.
  std::vector<std::string> take(bool even_empty) {
    if (count_ > 0 || (even_empty && frames_.empty())) cut();
    return std::move(frames_);
  }

 private:
  void add(std::string& list, std::string json) {
    if (!list.empty()) list += ',';
    list += json;
    if (++count_ == rows_per_frame || list.size() >= bytes_per_frame) cut();
  }
  void cut() {
    frames_.push_back(frame(word_of(topic_), fmt::format(R"({{"full":{},"truncated":{},"put":[{}],"gone":[{}]}})",
                                                         std::exchange(full_, false), truncated_, put_, gone_)));
    put_.clear();
    gone_.clear();
    count_ = 0;
  }

  const Topic topic_;
  const bool truncated_;
  bool full_;
  std::string put_;
  std::string gone_;
  std::size_t count_ = 0;
  std::vector<std::string> frames_;
};

}  // namespace

Result<Rows> read_rows(const Store& store, Topic topic) {
  switch (topic) {
    case Topic::leases: return rows_from(topic, store.leases({.max = max_rows}));
    case Topic::queues: return rows_from(topic, store.queues().list());
    case Topic::sessions: return rows_from(topic, store.sessions().list({.max = max_rows}));
    case Topic::schedules: return rows_from(topic, store.schedules().list({.max = max_rows}));
    case Topic::chunks: return rows_from(topic, store.chunks().sets());
    case Topic::workers: return rows_from(topic, store.queues().workers());
    case Topic::events: break;
  }
  return Rows{.topic = topic};
}

std::string json_of(const Event& event) { return model::to_json(model::object_of(event), model::Proofs::hidden); }

std::vector<std::string> snapshot(const Rows& rows) {
  Frames frames(rows, true);
  for (const auto& row : rows.rows) frames.put(row);
  return frames.take(true);
}

std::vector<std::string> SeenRows::changes(const Rows& now) {
  Frames frames(now, false);
  std::unordered_map<std::string, std::uint64_t> fingerprints;
  fingerprints.reserve(now.rows.size());
  for (const auto& row : now.rows) {
    fingerprints.emplace(row.name, row.fingerprint);
    const auto known = fingerprints_.find(row.name);
    if (known == fingerprints_.end() || known->second != row.fingerprint) frames.put(row);
  }
  for (const auto& [name, fingerprint] : fingerprints_) {
    if (!fingerprints.contains(name)) frames.gone(name);
  }
  fingerprints_ = std::move(fingerprints);
  return frames.take(std::exchange(truncated_, now.truncated) != now.truncated);
}

}  // namespace leasehold::serve
