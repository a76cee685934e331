// Lines about what a server does: JSON for machines, logfmt for people at a terminal.
//
//   observe::Log log(STDERR_FILENO, observe::LogForm::automatic, observe::LogLevel::info);
//   log.info("request", {{LogKey::method, "POST"}, {LogKey::path, "/api/v1/job/claim"}, {LogKey::status, 200}});
//
//   {"at":"2026-11-19T08:02:36.120Z","level":"info","message":"request","method":"POST","path":"/api/v1/job/claim",...}
//
// A line never has a payload, a result, a cursor or a token. There is no key for one, and the log cuts and cleans texts
// from outside: it removes the query from a path and the password from a URL, and replaces anything that looks like an
// API token or a fencing token. Any thread may call a log.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>

#include "leasehold/time.h"

namespace leasehold::observe {

enum class LogLevel { debug, info, warning, error };
enum class LogForm { automatic, json, logfmt };

/// The keys of a line. Never add a key for data that users keep in the store.
enum class LogKey {
  act,     ///< "job.claim"
  actor,   ///< the id or name of an API token, never its secret
  bytes,   ///< the length of a body
  code,    ///< of a refusal: "lost"
  detail,  ///< why, in our own words
  listen,  ///< an address that the server listens to
  method,  ///< of HTTP
  path,    ///< of a URL, without the query
  peer,    ///< the address of a client
  pid,
  request_id,  ///< of an HTTP request
  signal,
  status,  ///< of HTTP
  store,   ///< its URL, without the password
  took,    ///< how long it took
  version,
};

struct LogField {
  LogKey key{};
  std::variant<std::int64_t, std::string_view, Duration> value{};

  LogField(LogKey its_key, std::string_view text) : key(its_key), value(text) {}
  LogField(LogKey its_key, const char* text) : key(its_key), value(std::string_view(text)) {}
  LogField(LogKey its_key, const std::string& text) : key(its_key), value(std::string_view(text)) {}
  LogField(LogKey its_key, std::int64_t number) : key(its_key), value(number) {}
  LogField(LogKey its_key, int number) : key(its_key), value(std::int64_t{number}) {}
  LogField(LogKey its_key, Duration span) : key(its_key), value(span) {}
};

using LogFields = std::initializer_list<LogField>;

class Log {
 public:
  /// Writes to the descriptor, which stays the caller's. `automatic` is logfmt on a terminal and JSON elsewhere.
  Log(int descriptor, LogForm form, LogLevel least);

  void debug(std::string_view message, LogFields fields = {}) { write(LogLevel::debug, message, fields); }
  void info(std::string_view message, LogFields fields = {}) { write(LogLevel::info, message, fields); }
  void warning(std::string_view message, LogFields fields = {}) { write(LogLevel::warning, message, fields); }
  void error(std::string_view message, LogFields fields = {}) { write(LogLevel::error, message, fields); }

  [[nodiscard]] bool writes(LogLevel level) const { return level >= least_; }

 private:
  void write(LogLevel level, std::string_view message, LogFields fields);

  int descriptor_;
  bool json_;
  LogLevel least_;
  std::mutex mutex_;
};

/// The text without secrets: API tokens, fencing tokens, passwords in URLs; at most 300 bytes, in valid UTF-8 without
/// control characters.
std::string without_secrets(std::string_view text);

/// A line as Log writes it, without the line break.
std::string log_line(bool json, Timestamp at, LogLevel level, std::string_view message, LogFields fields);

}  // namespace leasehold::observe
