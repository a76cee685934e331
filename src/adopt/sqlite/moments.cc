#include "adopt/sqlite/moments.h"

#include <fmt/format.h>

#include <chrono>

namespace leasehold::adopt::sqlite {
namespace {

constexpr std::string_view iso_format = "'%Y-%m-%dT%H:%M:%fZ'";

std::int64_t milliseconds(Duration ttl) { return std::chrono::ceil<std::chrono::milliseconds>(ttl).count(); }

}  // namespace

std::string Moments::now_ms_sql() { return "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"; }

std::string Moments::column_type() const { return form_ == TimeForm::iso ? "TEXT" : "INTEGER"; }

std::string Moments::now_sql() const {
  if (form_ == TimeForm::iso) return fmt::format("strftime({}, 'now')", iso_format);
  if (form_ == TimeForm::unix_milliseconds) return now_ms_sql();
  return "CAST(strftime('%s', 'now') AS INTEGER)";
}

std::string Moments::now_act() const {
  if (form_ == TimeForm::iso) return fmt::format("strftime({}, :now_us / 1000 / 1000.0, 'unixepoch')", iso_format);
  return form_ == TimeForm::unix_milliseconds ? "(:now_us / 1000)" : "(:now_us / 1000000)";
}

std::string Moments::live_sql(std::string_view column) const {
  if (form_ == TimeForm::iso) return fmt::format("(julianday({}) > julianday('now')) IS TRUE", column);
  return fmt::format("({} > {}) IS TRUE", column, now_sql());
}

std::string Moments::live_act(std::string_view column) const {
  if (form_ == TimeForm::iso) return fmt::format("({} > :now_us + 0) IS TRUE", to_us(column));
  return fmt::format("({} > {}) IS TRUE", column, now_act());
}

std::string Moments::expired_act(std::string_view column) const {
  if (form_ == TimeForm::iso) return fmt::format("{} IS NOT NULL AND {} <= :now_us + 0", column, to_us(column));
  return fmt::format("{} <= {}", column, now_act());
}

std::string Moments::to_us(std::string_view column) const {
  if (form_ == TimeForm::unix_seconds) return fmt::format("{} * 1000000", column);
  if (form_ == TimeForm::unix_milliseconds) return fmt::format("{} * 1000", column);
  return fmt::format("CAST((julianday({}) - 2440587.5) * 86400000 + 0.5 AS INTEGER) * 1000", column);
}

std::string Moments::from_us(std::string_view microseconds) const {
  if (form_ == TimeForm::unix_seconds) return fmt::format("(({} + 999999) / 1000000)", microseconds);
  if (form_ == TimeForm::unix_milliseconds) return fmt::format("(({} + 999) / 1000)", microseconds);
  return fmt::format("strftime({}, ({} + 999) / 1000 / 1000.0, 'unixepoch')", iso_format, microseconds);
}

std::string Moments::later_sql(Duration ttl) const {
  const auto ms = milliseconds(ttl);
  if (form_ == TimeForm::unix_seconds) return fmt::format("{} + {}", now_sql(), (ms + 999) / 1000);
  if (form_ == TimeForm::unix_milliseconds) return fmt::format("{} + {}", now_sql(), ms);
  return fmt::format("strftime({}, 'now', '+{}.{:03} seconds')", iso_format, ms / 1000, ms % 1000);
}

std::string Moments::seconds_left_sql(std::string_view column) const {
  if (form_ == TimeForm::unix_seconds) return fmt::format("{} - {}", column, now_sql());
  if (form_ == TimeForm::unix_milliseconds) return fmt::format("({} - {} + 999) / 1000", column, now_sql());
  return fmt::format("CAST((julianday({}) - julianday('now')) * 86400 + 0.999 AS INTEGER)", column);
}

}  // namespace leasehold::adopt::sqlite
