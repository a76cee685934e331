// Writing to stdout (the result) and stderr (the chatter). Colours only on a terminal, and not with NO_COLOR.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "leasehold/lease.h"

namespace leasehold::cli {

/// One line each; the newline is added.
void print_line(std::string_view line);
void say_line(std::string_view line);

/// print("{} locks", n) to stdout, say(...) to stderr.
template <typename... Args>
void print(fmt::format_string<Args...> text, Args&&... args) {
  print_line(fmt::format(text, std::forward<Args>(args)...));
}
template <typename... Args>
void say(fmt::format_string<Args...> text, Args&&... args) {
  say_line(fmt::format(text, std::forward<Args>(args)...));
}

enum class Tone { plain, good, warning, bad, faint };

/// `text` in colour where stdout is a terminal that wants it.
std::string coloured(Tone tone, std::string_view text);
/// "free", "running", "expired", each in its colour.
std::string coloured(LeaseState state);

/// Whether a person is looking: stderr is a terminal.
[[nodiscard]] bool on_terminal();

/// What came from outside, made fit for a terminal: control characters and broken UTF-8 are shown as \xNN.
std::string printable(std::string_view text);

/// "12:00:30" in local time, with the date when that is not the day of `now`.
std::string local_time(Timestamp when, Timestamp now);

/// Rows under headings, columns aligned by what is seen (colours do not count).
class Table {
 public:
  explicit Table(std::vector<std::string> headings) : rows_{std::move(headings)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace leasehold::cli
