#include "cli/top/terminal.h"

#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "cli/print/print.h"

namespace leasehold::cli {
namespace {

constexpr std::string_view enter_screen = "\x1b[?1049h\x1b[?25l\x1b[2J";
constexpr std::string_view leave_screen = "\x1b[?7h\x1b[?25h\x1b[?1049l";
/// If a terminal measures a character differently than we do, the line must not wrap.
constexpr std::string_view begin_frame = "\x1b[?7l\x1b[H";
constexpr std::string_view end_frame = "\x1b[?7h";
constexpr std::string_view clear_line = "\x1b[K";
constexpr std::string_view clear_below = "\r\n\x1b[J";

sigset_t awaited_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH}) sigaddset(&set, number);
  return set;
}

/// Writes everything, however slow the line; a terminal that is gone accepts nothing, and sends a signal.
void write_out(std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

TopSignals::TopSignals() {
  const auto awaited = awaited_signals();
  pthread_sigmask(SIG_BLOCK, &awaited, &before_);
  fd_ = run::UniqueFd(::signalfd(-1, &awaited, SFD_CLOEXEC | SFD_NONBLOCK));
}

TopSignals::~TopSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

std::optional<int> TopSignals::next() const {
  signalfd_siginfo info{};
  if (::read(fd_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

bool TopTerminal::is_there() {
  const char* term = std::getenv("TERM");
  const bool moves_cursor = term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
  return moves_cursor && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
}

void TopTerminal::enter() {
  tcgetattr(STDIN_FILENO, &before_);
  auto typed = before_;
  typed.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  typed.c_cc[VMIN] = 1;
  typed.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &typed);
  write_out(enter_screen);
  shown_.clear();
}

void TopTerminal::leave() {
  write_out(leave_screen);
  tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
}

ScreenSize TopTerminal::size() {
  winsize window{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 || window.ws_row == 0) return {};
  return {.columns = window.ws_col, .lines = window.ws_row};
}

void TopTerminal::show(const std::vector<std::string>& lines, ScreenSize size) {
  // In one write and over the old frame, to avoid flicker. After a line as wide as the screen the cursor is still on
  // its last character: clearing from there would erase it.
  std::string frame(begin_frame);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) frame += "\r\n";
    frame += lines[i];
    if (width_of(lines[i]) < size.columns) frame += clear_line;
  }
  if (lines.size() < size.lines) frame += clear_below;
  frame += end_frame;
  // The size is part of it: resizing a terminal moves its contents.
  const auto mark = frame + std::to_string(size.columns) + "x" + std::to_string(size.lines);
  if (mark == shown_) return;
  write_out(frame);
  shown_ = mark;
}

std::optional<std::string> TopTerminal::read_typed() {
  std::array<char, 256> buffer{};
  const auto size = ::read(STDIN_FILENO, buffer.data(), buffer.size());
  if (size > 0) return std::string(buffer.data(), static_cast<std::size_t>(size));
  return size < 0 && (errno == EINTR || errno == EAGAIN) ? std::optional(std::string()) : std::nullopt;
}

void TopTerminal::stop_and_come_back() {
  leave();
  ::raise(SIGSTOP);
  enter();
}

}  // namespace leasehold::cli
