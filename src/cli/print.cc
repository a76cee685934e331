#include "cli/print.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "base/text.h"
#include "cli/display_width.h"
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

/// How many bytes an escape sequence takes at the beginning of a text; 0: there is none.
std::size_t escape_at_front(std::string_view text) {
  if (text.front() != '\x1b') return 0;
  const auto end = text.find('m');
  return end == std::string_view::npos ? text.size() : end + 1;
}

/// The second half of the control characters, which some terminals obey, too: U+0080 to U+009F.
bool begins_late_control(std::string_view text) {
  return text.size() > 1 && text[0] == '\xC2' && static_cast<unsigned char>(text[1]) < 0xA0U;
}

/// U+202A to U+202E and U+2066 to U+2069 change the order in which a terminal shows what comes after them, so that one
/// name looks like another. 0: there is none at the beginning of the text.
unsigned reordering_at_front(std::string_view text) {
  if (text.size() < 3 || text[0] != '\xE2') return 0;
  const unsigned code =
      0x2000U | (static_cast<unsigned char>(text[1]) & 0x3FU) << 6U | (static_cast<unsigned char>(text[2]) & 0x3FU);
  const bool embeds = code >= 0x202AU && code <= 0x202EU;
  const bool isolates = code >= 0x2066U && code <= 0x2069U;
  return embeds || isolates ? code : 0;
}

std::tm local(Timestamp when) {
  const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(when).time_since_epoch().count();
  std::tm parts{};
  localtime_r(&seconds, &parts);
  return parts;
}

}  // namespace

void print_line(std::string_view line) { write_line(stdout, line); }
void say_line(std::string_view line) { write_line(stderr, line); }

bool printed_well() { return std::ferror(stdout) == 0; }

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
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool strange = byte < 0x20 || byte == 0x7F || (byte >= 0x80 && !whole);
    if (strange) {
      shown += fmt::format("\\x{:02x}", byte);
    } else if (begins_late_control(text.substr(at))) {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[++at]));
    } else if (const auto code = reordering_at_front(text.substr(at)); code != 0) {
      shown += fmt::format("\\u{:04x}", code);
      at += 2;
    } else {
      shown += text[at];
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

std::string enumerated(const std::vector<std::string>& things) {
  std::string text;
  for (std::size_t i = 0; i < things.size(); ++i) {
    const auto* const before = i == 0 ? "" : i + 1 < things.size() ? ", " : " and ";
    text += before + things[i];
  }
  return text;
}

Timestamp wall_clock() { return std::chrono::floor<Duration>(std::chrono::system_clock::now()); }

void print_field(std::string_view name, std::string_view value) { print("{:<11} {}", name, value); }

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    if (const auto escape = escape_at_front(text); escape > 0) {
      text.remove_prefix(escape);
      continue;
    }
    const auto next = first_character(text);
    width += next.columns;
    text.remove_prefix(next.bytes);
  }
  return width;
}

std::string cut_to(std::string_view text, std::size_t columns) {
  if (width_of(text) <= columns) return std::string(text);
  std::size_t shown = 0;
  std::size_t end = 0;
  for (auto next = first_character(text); shown + next.columns < columns; next = first_character(text.substr(end))) {
    shown += next.columns;
    end += next.bytes;
  }
  return std::string(text.substr(0, end)) + "\u2026";
}

std::optional<std::size_t> terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

}  // namespace leasehold::cli
