#include "cli/print/print.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <cwchar>

#include "base/text.h"
#include "base/time_text.h"

namespace leasehold::cli {
namespace {

/// The stream for results: stdout, or with --json one that only this process has.
std::FILE*& results() {
  static std::FILE* stream = stdout;
  return stream;
}

void write_line(std::FILE* stream, std::string_view line) {
  std::fwrite(line.data(), 1, line.size(), stream);
  std::fputc('\n', stream);
  // Each line is flushed: a reader at the other end of a pipe can follow along.
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
    case Tone::normal: break;
  }
  return "";
}

/// The size in bytes of an escape sequence at the beginning of a text; 0 if there is none.
std::size_t escape_at_front(std::string_view text) {
  if (text.front() != '\x1b') return 0;
  const auto end = text.find('m');
  return end == std::string_view::npos ? text.size() : end + 1;
}

/// The second range of control characters, which some terminals obey, too: U+0080 to U+009F.
bool begins_late_control(std::string_view text) {
  return text.size() > 1 && text[0] == '\xC2' && static_cast<unsigned char>(text[1]) < 0xA0U;
}

/// U+202A to U+202E and U+2066 to U+2069 change the order in which a terminal shows the following characters, so that
/// one name looks like another. 0 if there is none at the beginning of the text.
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

void print_line(std::string_view line) { write_line(results(), line); }
void say_line(std::string_view line) { write_line(stderr, line); }

void print_bytes(std::string_view bytes) { std::fwrite(bytes.data(), 1, bytes.size(), results()); }

void keep_stdout_for_results() {
  // Above the descriptors that commands get: a command reports its progress on descriptor 3.
  constexpr int lowest = 10;
  const int own = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, lowest);
  std::FILE* stream = own < 0 ? nullptr : ::fdopen(own, "w");
  if (stream == nullptr || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return;
  results() = stream;
}

bool printed_well() { return std::fflush(results()) == 0 && std::ferror(results()) == 0; }

std::string coloured(Tone tone, std::string_view text) {
  if (tone == Tone::normal || !wants_colour()) return std::string(text);
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
    case JobState::cancelled:
    case JobState::lapsed: return coloured(Tone::faint, to_string(state));
    case JobState::available:
    case JobState::deferred:
    case JobState::blocked: break;
  }
  return to_string(state);
}

bool on_terminal() { return isatty(STDERR_FILENO) == 1; }

std::string shown_name(const std::optional<Holder>& holder) { return holder ? printable(holder->name) : "-"; }

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

std::string_view first_line(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin);
  text = text.substr(0, text.find_first_of("\r\n"));
  return text.substr(0, text.find_last_not_of(" \t") + 1);
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
  if (count == 1) return fmt::format("1 {}", thing);
  if (thing.ends_with("ry")) return fmt::format("{} {}ies", count, thing.substr(0, thing.size() - 1));
  return fmt::format("{} {}{}", count, thing, thing.ends_with("ch") ? "es" : "s");
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

namespace {

/// Each line of a text, made safe for a terminal, without empty lines at its beginning and end.
std::vector<std::string> printable_lines(std::string_view text) {
  std::vector<std::string> lines;
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  text.remove_prefix(std::min(text.find_first_not_of("\r\n"), text.size()));
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    auto line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(printable(line));
    at = end + 1;
  }
  return lines;
}

}  // namespace

void print_block(std::string_view name, std::string_view text) {
  for (const auto& line : printable_lines(text)) {
    print_field(name, line);
    name = "";
  }
}

void print_indented(std::string_view text) {
  for (const auto& line : printable_lines(text)) print_line(line.empty() ? line : "  " + line);
}

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

namespace {

/// The C library knows the width of every character, but only in a Unicode locale; ours is "C", so that numbers are
/// written the same everywhere. The destructor restores it.
class WithUnicode {
 public:
  WithUnicode() : before_(::uselocale(unicode())) {}
  WithUnicode(const WithUnicode&) = delete;
  WithUnicode& operator=(const WithUnicode&) = delete;
  ~WithUnicode() { ::uselocale(before_); }

 private:
  /// Null if the system has none: then uselocale changes nothing.
  static locale_t unicode() {
    static const locale_t locale = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return locale;
  }

  locale_t before_;
};

}  // namespace

DisplayedCharacter first_character(std::string_view text) {
  if (static_cast<unsigned char>(text.front()) < 0x80U) return {};
  const WithUnicode locale;
  wchar_t character = 0;
  std::mbstate_t state{};
  const auto bytes = std::mbrtowc(&character, text.data(), text.size(), &state);
  // Broken or truncated: mbrtowc reports this with numbers greater than any size.
  if (bytes == 0 || bytes > text.size()) return {};
  const int columns = ::wcwidth(character);
  return {.bytes = bytes, .columns = columns < 0 ? 1 : static_cast<std::size_t>(columns)};
}

std::string shown_distance(Duration left) { return left > Duration::zero() ? "in " + format_duration(left) : "now"; }

}  // namespace leasehold::cli
