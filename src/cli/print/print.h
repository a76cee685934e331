// Writing to stdout (the result) and stderr (the chatter). Colours only on a terminal, and not with NO_COLOR.
#pragma once

#include <fmt/format.h>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/job.h"
#include "leasehold/lease.h"

namespace leasehold::cli {

/// One line each; the newline is added.
void print_line(std::string_view line);
void say_line(std::string_view line);

/// Bytes as they are, to stdout.
void print_bytes(std::string_view bytes);

/// For --json: from now on only print() writes to stdout. Whatever else is written there, by this process or by
/// commands that it runs, goes to stderr.
void keep_stdout_for_results();

/// Whether all that was printed has reached its reader. Who prints without end ends when it has not: a disk is full.
[[nodiscard]] bool printed_well();

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
std::string coloured(JobState state);

/// Whether a person is looking: stderr is a terminal.
[[nodiscard]] bool on_terminal();

/// What came from outside, made fit for a terminal: control characters and broken UTF-8 are shown as \xNN,
/// characters that turn the order of others around as \uNNNN.
std::string printable(std::string_view text);

/// Up to the first line break that has text before it.
std::string_view first_line(std::string_view text);

/// "12:00:30" in local time, with the date when that is not the day of `now`.
std::string local_time(Timestamp when, Timestamp now);

/// "12:00:30 (in 20s)", "12:00:30 (2m ago)".
std::string with_distance(Timestamp when, Timestamp now);

/// "1 job", "2 jobs".
std::string counted(std::int64_t count, std::string_view thing);

/// "a", "a and b", "a, b and c".
std::string enumerated(const std::vector<std::string>& things);

/// This machine's wall clock: for showing and for reading what people write, never for leases.
Timestamp wall_clock();

/// "holder      ana": one line of what is shown about one thing.
void print_field(std::string_view name, std::string_view value);

/// The same for a text of several lines: the lines after the first stand below it. Nothing for an empty text.
void print_block(std::string_view name, std::string_view text);
/// The lines of a text, indented.
void print_indented(std::string_view text);

/// How many columns a text takes: escape sequences take none, wide characters two.
std::size_t width_of(std::string_view text);

/// At most so many columns of a text without escape sequences; an ellipsis tells that there is more.
std::string cut_to(std::string_view text, std::size_t columns);

/// Of the terminal that stdout is; nothing where it is none.
std::optional<std::size_t> terminal_width();

// How wide text is on a terminal: a CJK character or an emoji takes two columns, a combining mark takes none.
struct DisplayedCharacter {
  std::size_t bytes = 1;
  std::size_t columns = 1;
};

/// The first character of a text that is not empty, as the terminal counts it. What is not UTF-8 counts byte by byte.
DisplayedCharacter first_character(std::string_view text);

/// "in 5m", or "now" where nothing is left.
std::string shown_distance(Duration left);

}  // namespace leasehold::cli
