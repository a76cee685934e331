// Writing to stdout (the result) and stderr (the chatter). Colours only on a terminal, and not with NO_COLOR.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/lease.h"
#include "leasehold/queue.h"

namespace leasehold::cli {

/// One line each; the newline is added.
void print_line(std::string_view line);
void say_line(std::string_view line);

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

/// How many columns a text takes: escape sequences take none, wide characters two.
std::size_t width_of(std::string_view text);

/// At most so many columns of a text without escape sequences; an ellipsis tells that there is more.
std::string cut_to(std::string_view text, std::size_t columns);

/// Of the terminal that stdout is; nothing where it is none.
std::optional<std::size_t> terminal_width();

}  // namespace leasehold::cli
