// The constants of include/leasehold/limits.h in the SQL of a store.
//
//   const auto constants = Constants::from("include/leasehold/limits.h");
//   constants.put_into("... DEFAULT {defaults.job_ttl}", "04_enqueue.sql", "postgresql");   // interval '5 minutes'
//
//   {defaults.job_ttl}               a whole number; a duration is an interval on PostgreSQL, microseconds on SQLite
//   {bounds.max_delay as seconds}    a duration as a whole number of seconds
//   {bounds.payload_bytes as text}   for a message, within its quotes: 1 MiB, 12h, 100 years
//
// The dot distinguishes these from fragments, which are words. Braces with a dot that name no constant fail the build,
// and so does an unreadable line of the header: both with file and line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace embed_sql {

class Constants {
 public:
  static Constants from(const std::filesystem::path& header);

  /// The text with the values of its constants.
  [[nodiscard]] std::string put_into(const std::string& text, const std::filesystem::path& path,
                                     const std::string& dialect) const;

 private:
  struct Constant {
    std::int64_t value = 0;  ///< in microseconds, if it is a duration
    std::string unit{};      ///< of a duration, as in the header: "seconds"
    std::int64_t count = 0;  ///< and how many of them
    bool is_size = false;    ///< a number of bytes
  };

  void add(const std::string& name, const std::string& value, const std::string& where);
  [[nodiscard]] std::string written(const std::string& mark, const std::string& dialect,
                                    const std::string& where) const;
  static std::string literal(const Constant& constant, const std::string& dialect);
  static std::string as_seconds(const Constant& constant, const std::string& where);
  static std::string as_text(const Constant& constant);

  std::map<std::string, Constant> constants_;  // by "defaults.job_ttl"
};

}  // namespace embed_sql
