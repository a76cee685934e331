// Writes to stdout (the result) and stderr (messages). Colours only on a terminal, and not with NO_COLOR.
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

/// Writes bytes unchanged to stdout.
void print_bytes(std::string_view bytes);

/// For --json: from now on only print() writes to stdout. All other output of this process and of commands it runs goes
/// to stderr.
void keep_stdout_for_results();

/// Whether all output has reached its reader. Commands that print without end stop if it has not: the disk is full.
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

enum class Tone { normal, good, warning, bad, faint };

/// `text` in colour if stdout is a terminal that permits it.
std::string coloured(Tone tone, std::string_view text);
/// "free", "running", "expired", each in its colour.
std::string coloured(LeaseState state);
std::string coloured(JobState state);

/// Whether stderr is a terminal.
[[nodiscard]] bool on_terminal();

/// Makes foreign text safe for a terminal: control characters and broken UTF-8 become \xNN, characters that reorder
/// others become \uNNNN.
std::string printable(std::string_view text);
/// A holder's name; "-" without a holder.
std::string shown_name(const std::optional<Holder>& holder);

/// The text up to the first line break that follows some text.
std::string_view first_line(std::string_view text);

/// "12:00:30" in local time, with the date if it is not the day of `now`.
std::string local_time(Timestamp when, Timestamp now);

/// "12:00:30 (in 20s)", "12:00:30 (2m ago)".
std::string with_distance(Timestamp when, Timestamp now);

/// "1 job", "2 jobs".
std::string counted(std::int64_t count, std::string_view thing);

/// "a", "a and b", "a, b and c".
std::string enumerated(const std::vector<std::string>& things);

/// This machine's wall clock: for display and for times that users enter, never for leases.
Timestamp wall_clock();

/// "holder      ana": one line about one thing.
void print_field(std::string_view name, std::string_view value);

/// The same for a text of several lines: the following lines are aligned below the first. Prints nothing for an empty
/// text.
void print_block(std::string_view name, std::string_view text);
/// The lines of a text, indented.
void print_indented(std::string_view text);

/// The number of columns of a text: escape sequences take none, wide characters two.
std::size_t width_of(std::string_view text);

/// Up to `columns` columns of a text without escape sequences; an ellipsis marks a cut.
std::string cut_to(std::string_view text, std::size_t columns);

/// The width of the terminal on stdout; nothing if it is not one.
std::optional<std::size_t> terminal_width();

// The width of text on a terminal: a CJK character or an emoji takes two columns, a combining mark takes none.
struct DisplayedCharacter {
  std::size_t bytes = 1;
  std::size_t columns = 1;
};

/// The first character of a non-empty text, as the terminal counts it. Bytes that are not UTF-8 count one by one.
DisplayedCharacter first_character(std::string_view text);

/// "in 5m", or "now" if no time is left.
std::string shown_distance(Duration left);

}  // namespace leasehold::cli
