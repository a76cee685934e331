#include "cli/live_screen.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace leasehold::cli {
namespace {

/// Where the terminal does not say.
constexpr std::size_t usual_height = 24;

constexpr const char* no_wrapping = "\x1b[?7l";
constexpr const char* wrapping = "\x1b[?7h";
constexpr const char* clear_line = "\x1b[K";
constexpr const char* clear_below = "\x1b[J";

}  // namespace

std::size_t LiveScreen::height() {
  winsize size{};
  const bool told = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1;
  // The last line is where the cursor waits.
  return (told ? size.ws_row : usual_height) - 1;
}

void LiveScreen::show(const std::vector<std::string>& lines) {
  const auto count = std::min(lines.size(), height());
  // In one piece, and line by line over the old ones: nothing flickers.
  std::string frame = shown_ > 0 ? fmt::format("\x1b[{}A\r", shown_) : "";
  frame += no_wrapping;
  for (std::size_t i = 0; i < count; ++i) frame += lines[i] + clear_line + "\n";
  frame += clear_below;
  frame += wrapping;
  std::fwrite(frame.data(), 1, frame.size(), stdout);
  std::fflush(stdout);
  shown_ = count;
}

}  // namespace leasehold::cli
