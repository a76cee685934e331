#include "observe/log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

#include "base/text.h"
#include "leasehold/result.h"

namespace leasehold::observe {
namespace {

constexpr std::size_t max_text_bytes = 300;
constexpr std::string_view removed = "[removed]";

constexpr std::array<std::string_view, 16> keys = {"act",    "actor", "bytes",        "code",   "detail",     "listen",
                                                   "method", "path",  "peer",         "pid",    "request_id", "signal",
                                                   "status", "store", "took_seconds", "version"};
static_assert(keys.size() == static_cast<std::size_t>(LogKey::version) + 1);

constexpr std::array<std::string_view, 4> levels = {"debug", "info", "warning", "error"};

bool is_digit(char character) { return character >= '0' && character <= '9'; }

bool is_secret_letter(char character) { return is_in_word(character) || character == '-'; }

/// The end of the run of such characters that begins at `from`.
template <typename Test>
std::size_t end_of_run(std::string_view text, std::size_t from, Test test) {
  while (from < text.size() && test(text[from])) ++from;
  return from;
}

// `name:password@host`: the password ends at the last `@` before the path.
std::size_t end_of_password(std::string_view text, std::size_t after_scheme) {
  const auto end = std::min(text.find_first_of("/ \"'", after_scheme), text.size());
  const auto at = text.substr(0, end).rfind('@');
  return at == std::string_view::npos || at < after_scheme ? after_scheme : at;
}

/// Where the secret that begins at `at` ends; `at` if none begins there.
std::size_t end_of_secret(std::string_view text, std::size_t at) {
  // An API token, and parameters of URLs.
  if (text.substr(at).starts_with("lht_")) return end_of_run(text, at, is_secret_letter);
  for (const std::string_view parameter : {"password=", "token="}) {
    if (text.substr(at).starts_with(parameter)) return std::min(text.find_first_of("& \"'", at), text.size());
  }
  if (text.substr(at).starts_with("://")) {
    const auto password = text.find(':', at + 3);
    const auto end = end_of_password(text, at + 3);
    return password < end ? end : at;
  }
  // A fencing token is the moment of its grant in microseconds: 16 digits or more.
  constexpr std::size_t token_digits = 16;
  if (is_digit(text[at]) && (at == 0 || !is_digit(text[at - 1]))) {
    const auto end = end_of_run(text, at, is_digit);
    if (end - at >= token_digits) return end;
  }
  return at;
}

/// The length of a control character at the front, which a terminal might obey; 0 if there is none.
std::size_t length_of_control(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x20 || first == 0x7f) return 1;
  const bool is_c1 = first == 0xC2 && text.size() > 1 && static_cast<unsigned char>(text[1]) < 0xA0;
  return is_c1 ? 2 : 0;
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') out += '\\';
    out += character;
  }
  return out + '"';
}

std::string logfmt_text(std::string_view text) {
  const bool simple = !text.empty() && text.find_first_of(" =\"\\") == std::string_view::npos;
  return simple ? std::string(text) : json_text(text);
}

std::string value_text(bool json, const LogField& field) {
  if (const auto* number = std::get_if<std::int64_t>(&field.value)) return fmt::format("{}", *number);
  if (const auto* span = std::get_if<Duration>(&field.value)) {
    return fmt::format("{}", std::chrono::duration<double>(*span).count());
  }
  auto text = std::get<std::string_view>(field.value);
  if (field.key == LogKey::path) text = text.substr(0, text.find_first_of("?#"));
  const auto clean = without_secrets(text);
  return json ? json_text(clean) : logfmt_text(clean);
}

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // The server goes on, even if it cannot write its log.
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

std::string without_secrets(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = end_of_secret(text, at);
    if (end == at) {
      const auto length = length_of_control(text.substr(at));
      out += length == 0 ? text[at] : ' ';
      at += std::max<std::size_t>(length, 1);
    } else {
      if (text.substr(at).starts_with("://")) out += "://";
      out += removed;
      at = end;
    }
  }
  return clean_text(out, max_text_bytes);
}

std::string log_line(bool json, Timestamp at, LogLevel level, std::string_view message, LogFields fields) {
  const auto word = levels.at(static_cast<std::size_t>(level));
  const auto clean = without_secrets(message);
  auto line = json ? fmt::format(R"({{"at":"{}","level":"{}","message":{})", to_string(at), word, json_text(clean))
                   : fmt::format("{} {} {}", to_string(at), word, logfmt_text(clean));
  for (const auto& field : fields) {
    const auto key = keys.at(static_cast<std::size_t>(field.key));
    line += json ? fmt::format(",\"{}\":{}", key, value_text(json, field))
                 : fmt::format(" {}={}", key, value_text(json, field));
  }
  if (json) line += '}';
  return line;
}

Log::Log(int descriptor, LogForm form, LogLevel least)
    : descriptor_(descriptor),
      json_(form == LogForm::automatic ? ::isatty(descriptor) == 0 : form == LogForm::json),
      least_(least) {}

void Log::write(LogLevel level, std::string_view message, LogFields fields) {
  if (!writes(level)) return;
  const auto now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  const auto line = log_line(json_, Timestamp(now.time_since_epoch()), level, message, fields) + "\n";
  const std::lock_guard lock(mutex_);
  write_all(descriptor_, line);
}

}  // namespace leasehold::observe
