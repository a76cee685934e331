#include "adopt/postgres/moments.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/text.h"
#include "storage/direct.h"

namespace leasehold::adopt::postgres {
namespace {

constexpr std::string_view iso_form = R"('YYYY-MM-DD"T"HH24:MI:SS.US"Z"')";

bool is_number(std::string_view type) { return type == "bigint" || type == "integer" || type == "numeric"; }

}  // namespace

Result<Moments> Moments::of(const Description& table, std::string_view column, std::string_view type) {
  const auto refused = [&](std::string_view advice) {
    return invalid(fmt::format("column {} is {}: {}", leasehold::quoted(column), type, advice));
  };
  if (type.starts_with("timestamp") && type.ends_with("with time zone")) {
    return Moments(TimeForm::timestamptz, "timestamptz", "");
  }
  if (type.starts_with("timestamp")) {
    if (table.time != TimeForm::timestamp) return refused(R"(say in which zone, with time = "timestamp@UTC")");
    return Moments(TimeForm::timestamp, "timestamp", table.time_zone);
  }
  if (is_number(type)) {
    if (table.time != TimeForm::unix_seconds && table.time != TimeForm::unix_milliseconds) {
      return refused(R"(say what the number counts, with time = "unix" or time = "unix_ms")");
    }
    return Moments(*table.time, std::string(type), "");
  }
  if (type == "text" || type.starts_with("character varying")) {
    if (table.time != TimeForm::iso) return refused(R"(say how the text is written, with time = "iso")");
    return Moments(TimeForm::iso, std::string(type), "");
  }
  return refused("moments are kept as timestamptz, timestamp, bigint or text");
}

Moments Moments::of_new_column(const Description& table) {
  switch (table.time.value_or(TimeForm::timestamptz)) {
    case TimeForm::timestamp: return Moments(TimeForm::timestamp, "timestamp", table.time_zone);
    case TimeForm::unix_seconds: return Moments(TimeForm::unix_seconds, "bigint", "");
    case TimeForm::unix_milliseconds: return Moments(TimeForm::unix_milliseconds, "bigint", "");
    case TimeForm::iso: return Moments(TimeForm::iso, "text", "");
    case TimeForm::timestamptz: break;
  }
  return Moments(TimeForm::timestamptz, "timestamptz", "");
}

std::string Moments::type() const { return type_; }

std::string Moments::now() const {
  switch (form_) {
    case TimeForm::unix_seconds: return fmt::format("floor(extract(epoch FROM clock_timestamp()))::{}", type_);
    case TimeForm::unix_milliseconds:
      return fmt::format("floor(extract(epoch FROM clock_timestamp()) * 1000)::{}", type_);
    default: return from("clock_timestamp()");
  }
}

std::string Moments::from(std::string_view moment) const {
  switch (form_) {
    case TimeForm::timestamptz: return std::string(moment);
    case TimeForm::timestamp: return fmt::format("(({}) AT TIME ZONE {})", moment, storage::quote_literal(zone_));
    case TimeForm::unix_seconds: return fmt::format("ceil(extract(epoch FROM {}))::{}", moment, type_);
    case TimeForm::unix_milliseconds: return fmt::format("ceil(extract(epoch FROM {}) * 1000)::{}", moment, type_);
    case TimeForm::iso: return fmt::format("to_char(({}) AT TIME ZONE 'UTC', {})", moment, iso_form);
  }
  return {};
}

std::string Moments::moment(std::string_view value) const {
  switch (form_) {
    case TimeForm::timestamptz: return std::string(value);
    case TimeForm::timestamp: return fmt::format("({} AT TIME ZONE {})", value, storage::quote_literal(zone_));
    case TimeForm::unix_seconds: return fmt::format("to_timestamp({})", value);
    case TimeForm::unix_milliseconds: return fmt::format("to_timestamp({} / 1000.0)", value);
    case TimeForm::iso: return fmt::format("{}::timestamptz", value);
  }
  return {};
}

std::string Moments::span(std::string_view interval) const {
  switch (form_) {
    case TimeForm::unix_seconds: return fmt::format("ceil(extract(epoch FROM {}))::{}", interval, type_);
    case TimeForm::unix_milliseconds: return fmt::format("ceil(extract(epoch FROM {}) * 1000)::{}", interval, type_);
    default: return std::string(interval);
  }
}

std::string Moments::seconds(std::string_view from, std::string_view to) const {
  switch (form_) {
    case TimeForm::unix_seconds: return fmt::format("({} - {})", to, from);
    case TimeForm::unix_milliseconds: return fmt::format("(({} - {}) / 1000.0)", to, from);
    default: return fmt::format("extract(epoch FROM {} - {})", to, from);
  }
}

std::string Moments::never() const {
  return form_ == TimeForm::timestamptz || form_ == TimeForm::timestamp ? "'-infinity'" : "0";
}

std::string Moments::microseconds(std::string_view value) const {
  return fmt::format("(extract(epoch FROM {}) * 1000000)::bigint", moment(value));
}

std::string interval_text(Duration length) {
  constexpr std::array<std::pair<std::int64_t, std::string_view>, 4> units = {
      {{3'600'000'000, "hour"}, {60'000'000, "minute"}, {1'000'000, "second"}, {1, "microsecond"}}};
  for (const auto& [size, unit] : units) {
    const auto count = length.count() / size;
    if (length.count() % size == 0) return fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s");
  }
  return {};
}

}  // namespace leasehold::adopt::postgres
