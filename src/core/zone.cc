#include "core/zone.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "base/zone_files.h"

namespace leasehold {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

/// Reads big-endian numbers from the front; after the end of the bytes every number is 0 and `fits` is false.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  std::int64_t number(std::size_t size) {
    const auto bytes = take(size);
    if (bytes.empty()) return 0;
    // The first byte carries the sign.
    std::int64_t value = static_cast<unsigned char>(bytes.front()) >= 0x80 ? -1 : 0;
    for (const char byte : bytes) value = value * 256 + static_cast<unsigned char>(byte);
    return value;
  }
  std::string_view take(std::size_t size) {
    fits_ = fits_ && rest_.size() >= size;
    if (!fits_) return {};
    const auto taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  [[nodiscard]] std::string_view rest() const { return rest_; }
  [[nodiscard]] bool fits() const { return fits_; }

 private:
  std::string_view rest_;
  bool fits_ = true;
};

/// The counts of the entries that follow in a block.
struct BlockHead {
  explicit BlockHead(ByteReader& reader) {
    is_known = reader.take(4) == "TZif" && reader.number(1) >= '2';
    reader.take(15);
    for (auto* count : {&universal_flags, &standard_flags, &leap_seconds, &changes, &types, &letters}) {
      const auto number = reader.number(4);
      is_known = is_known && number >= 0 && number <= 1'000'000;
      *count = is_known ? static_cast<std::size_t>(number) : 0;
    }
  }
  /// The size of the block after this head, if a time takes `time_size` bytes.
  [[nodiscard]] std::size_t body_size(std::size_t time_size) const {
    return changes * (time_size + 1) + types * 6 + letters + leap_seconds * (time_size + 4) + standard_flags +
           universal_flags;
  }

  bool is_known = false;
  std::size_t universal_flags = 0;
  std::size_t standard_flags = 0;
  std::size_t leap_seconds = 0;
  std::size_t changes = 0;
  std::size_t types = 0;
  std::size_t letters = 0;
};

/// The offsets of the local time types.
std::vector<seconds> read_offsets(ByteReader& reader, std::size_t count) {
  std::vector<seconds> offsets;
  for (std::size_t i = 0; i < count; ++i) {
    offsets.emplace_back(reader.number(4));
    reader.take(2);
  }
  return offsets;
}

/// Suggests a zone for a city without its region, or for a misspelled name.
std::string did_you_mean(std::string_view name) {
  const auto names = zone_names();
  const auto city = std::find_if(names.begin(), names.end(), [&](const std::string& candidate) {
    return candidate.size() > name.size() && candidate.ends_with(name) &&
           candidate[candidate.size() - name.size() - 1] == '/';
  });
  return city != names.end() ? *city : nearest(name, names);
}

Error unknown_zone(std::string_view name) {
  std::error_code ignored;
  if (!std::filesystem::exists(zone_folder(), ignored)) {
    return {.code = Errc::invalid_argument,
            .message = fmt::format("time zone {}: there is no tz database in {}: install tzdata, or use UTC",
                                   quoted(name), zone_folder())};
  }
  const auto meant = did_you_mean(name);
  return {.code = Errc::invalid_argument,
          .message = fmt::format(
              "unknown time zone {}: {}", quoted(name),
              meant.empty() ? "write a name such as Europe/Berlin, or UTC" : fmt::format("did you mean {}?", meant))};
}

}  // namespace

std::optional<Zone> Zone::parse(std::string_view name, std::string_view bytes) {
  ByteReader reader(bytes);
  // The first block has 32-bit times, for old programs; the second one holds the same with 64 bits.
  const BlockHead old(reader);
  reader.take(old.body_size(4));
  const BlockHead head(reader);
  if (!head.is_known || head.types == 0 || head.leap_seconds != 0) return std::nullopt;
  std::vector<sys_seconds> times;
  for (std::size_t i = 0; i < head.changes; ++i) times.emplace_back(seconds(reader.number(8)));
  const auto kinds = reader.take(head.changes);
  const auto offsets = read_offsets(reader, head.types);
  reader.take(head.letters + head.standard_flags + head.universal_flags);
  const auto footer = reader.rest();
  if (!reader.fits() || footer.size() < 2 || footer.front() != '\n' || footer.back() != '\n') return std::nullopt;

  Zone zone;
  zone.name_ = name;
  zone.first_offset_ = offsets.front();
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto kind = static_cast<unsigned char>(kinds[i]);
    if (kind >= offsets.size() || (i > 0 && times[i] <= times[i - 1])) return std::nullopt;
    zone.changes_.push_back({std::clamp(times[i], beginning_of_time, end_of_time), offsets[kind]});
  }
  const auto rule = footer.substr(1, footer.size() - 2);
  if (!rule.empty()) {
    zone.rule_ = ZoneRule::parse(rule);
    if (!zone.rule_) return std::nullopt;
  }
  return zone;
}

ZonePeriod Zone::period_at(sys_seconds when) const {
  const auto next = std::upper_bound(changes_.begin(), changes_.end(), when,
                                     [](sys_seconds moment, const Change& change) { return moment < change.at; });
  const bool is_first = next == changes_.begin();
  const auto begin = is_first ? beginning_of_time : std::prev(next)->at;
  if (next != changes_.end()) return {begin, next->at, is_first ? first_offset_ : std::prev(next)->offset};
  if (!rule_) return {begin, end_of_time, is_first ? first_offset_ : std::prev(next)->offset};
  auto period = rule_->period_at(when);
  period.begin = std::max(period.begin, begin);
  return period;
}

Result<Zone> find_zone(std::string_view name) {
  if (name == "UTC") return Zone();
  const auto bytes = read_zone_file(name);
  if (!bytes) return unknown_zone(name);
  if (auto zone = Zone::parse(name, *bytes)) return *std::move(zone);
  return Error{.code = Errc::damaged,
               .message = fmt::format("cannot read the file of time zone {} in {}", quoted(name), zone_folder())};
}

}  // namespace leasehold
