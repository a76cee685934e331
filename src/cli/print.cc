#include "cli/print.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "base/text.h"
#include "core/duration.h"

namespace leasehold::cli {
namespace {

void write_line(std::FILE* stream, std::string_view line) {
  std::fwrite(line.data(), 1, line.size(), stream);
  std::fputc('\n', stream);
  // Each line at once: a reader at the other end of a pipe follows along.
  std::fflush(stream);
}

bool wants_colour() {
  static const bool wanted = [] {
    const char* no_color = std::getenv("NO_COLOR");
    const char* term = std::getenv("TERM");
    const bool refused =
        (no_color != nullptr && *no_color != '\0') || (term != nullptr && std::string_view(term) == "dumb");
    return !refused && isatty(STDOUT_FILENO) == 1;
  }();
  return wanted;
}

const char* escape_of(Tone tone) {
  switch (tone) {
    case Tone::good: return "\x1b[32m";
    case Tone::warning: return "\x1b[33m";
    case Tone::bad: return "\x1b[31m";
    case Tone::faint: return "\x1b[2m";
    case Tone::plain: break;
  }
  return "";
}

/// In UTF-8 all bytes of a character but the first look alike.
bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

std::tm local(Timestamp when) {
  const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(when).time_since_epoch().count();
  std::tm parts{};
  localtime_r(&seconds, &parts);
  return parts;
}

}  // namespace

void print_line(std::string_view line) { write_line(stdout, line); }
void say_line(std::string_view line) { write_line(stderr, line); }

std::string coloured(Tone tone, std::string_view text) {
  if (tone == Tone::plain || !wants_colour()) return std::string(text);
  return fmt::format("{}{}\x1b[0m", escape_of(tone), text);
}

std::string coloured(LeaseState state) {
  const auto tone = state == LeaseState::running   ? Tone::good
                    : state == LeaseState::expired ? Tone::warning
                                                   : Tone::faint;
  return coloured(tone, to_string(state));
}

std::string coloured(JobState state) {
  switch (state) {
    case JobState::running: return coloured(Tone::good, to_string(state));
    case JobState::expired: return coloured(Tone::warning, to_string(state));
    case JobState::failed: return coloured(Tone::bad, to_string(state));
    case JobState::completed:
    case JobState::cancelled: return coloured(Tone::faint, to_string(state));
    case JobState::available:
    case JobState::deferred:
    case JobState::blocked: break;
  }
  return to_string(state);
}

bool on_terminal() { return isatty(STDERR_FILENO) == 1; }

std::string printable(std::string_view text) {
  const bool whole = is_utf8(text);
  std::string shown;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool strange = byte < 0x20 || byte == 0x7F || (byte >= 0x80 && !whole);
    if (strange) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += c;
    }
  }
  return shown;
}

std::string local_time(Timestamp when, Timestamp now) {
  const auto parts = local(when);
  const auto today = local(now);
  const bool same_day = parts.tm_yday == today.tm_yday && parts.tm_year == today.tm_year;
  char text[32];
  const auto size = std::strftime(text, sizeof text, same_day ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &parts);
  return {text, size};
}

std::string with_distance(Timestamp when, Timestamp now) {
  const auto distance = when > now ? "in " + format_duration(when - now) : format_age(now - when);
  return fmt::format("{} ({})", local_time(when, now), distance);
}

std::string counted(std::int64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

Timestamp wall_clock() { return std::chrono::floor<Duration>(std::chrono::system_clock::now()); }

void print_field(std::string_view name, std::string_view value) { print("{:<11} {}", name, value); }

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  bool in_escape = false;
  for (const char c : text) {
    if (in_escape) {
      in_escape = c != 'm';
    } else if (c == '\x1b') {
      in_escape = true;
    } else if (begins_character(c)) {
      ++width;
    }
  }
  return width;
}

std::string cut_to(std::string_view text, std::size_t columns) {
  if (width_of(text) <= columns) return std::string(text);
  std::size_t shown = 0;
  std::size_t end = 0;
  while (end < text.size() && (shown + 1 < columns || !begins_character(text[end]))) {
    if (begins_character(text[end])) ++shown;
    ++end;
  }
  return std::string(text.substr(0, end)) + "\u2026";
}

std::optional<std::size_t> terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

}  // namespace leasehold::cli
