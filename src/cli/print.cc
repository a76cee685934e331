#include "cli/print.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "base/text.h"

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

/// How many columns a cell takes: escape sequences take none, a UTF-8 sequence is taken for one.
std::size_t width_of(std::string_view cell) {
  std::size_t width = 0;
  bool in_escape = false;
  for (const char c : cell) {
    if (in_escape) {
      in_escape = c != 'm';
    } else if (c == '\x1b') {
      in_escape = true;
    } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
      ++width;
    }
  }
  return width;
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

void Table::print() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      // The last column needs no padding: nothing follows it.
      if (i + 1 < row.size()) line.append(widths[i] - width_of(row[i]) + 2, ' ');
    }
    print_line(line);
  }
}

}  // namespace leasehold::cli
