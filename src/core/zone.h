// A time zone: converts a moment to local time.
//
//   auto berlin = find_zone("Europe/Berlin");      // Result<Zone>
//   berlin->period_at(now).offset;                  // 3600s in winter
//
// Read from the tz database of this machine (the package tzdata), again for each request: an updated database needs no
// restart. UTC needs no database. After the end of its file a zone follows its rule, so any year works.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/zone_rule.h"
#include "leasehold/result.h"

namespace leasehold {

/// Immutable, so any thread may use it.
class Zone {
 public:
  /// UTC.
  Zone() = default;

  /// Parses the bytes of a compiled zone (RFC 9636, version 2 and later); nothing if they are not one.
  static std::optional<Zone> parse(std::string_view name, std::string_view bytes);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] ZonePeriod period_at(std::chrono::sys_seconds when) const;

 private:
  struct Change {
    std::chrono::sys_seconds at;
    std::chrono::seconds offset;
  };

  std::string name_ = "UTC";
  std::chrono::seconds first_offset_{};
  std::vector<Change> changes_;
  std::optional<ZoneRule> rule_;
};

/// `unknown time zone "Europe/Berln": did you mean Europe/Berlin?`
Result<Zone> find_zone(std::string_view name);

}  // namespace leasehold
