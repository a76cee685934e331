#include "cli/print/live.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <system_error>

#include "cli/print/lock_text.h"
#include "cli/print/print.h"

namespace leasehold::cli {
namespace {

/// Used if the terminal does not report its height.
constexpr std::size_t default_height = 24;

constexpr const char* no_wrapping = "\x1b[?7l";
constexpr const char* wrapping = "\x1b[?7h";
constexpr const char* clear_line = "\x1b[K";
constexpr const char* clear_below = "\x1b[J";

}  // namespace

std::size_t LiveScreen::height() {
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1;
  // The cursor occupies the last line.
  return (known ? size.ws_row : default_height) - 1;
}

void LiveScreen::show(const std::vector<std::string>& lines) {
  const auto count = std::min(lines.size(), height());
  // In one write, and line by line over the old ones, to avoid flicker.
  std::string frame = shown_ > 0 ? fmt::format("\x1b[{}A\r", shown_) : "";
  frame += no_wrapping;
  for (std::size_t i = 0; i < count; ++i) frame += lines[i] + clear_line + "\n";
  frame += clear_below;
  frame += wrapping;
  std::fwrite(frame.data(), 1, frame.size(), stdout);
  std::fflush(stdout);
  shown_ = count;
}

namespace {

constexpr Duration interval = std::chrono::milliseconds(100);
constexpr std::int64_t bar_width = 20;

}  // namespace

ProgressLine::ProgressLine() : wanted_(on_terminal()) {}

bool ProgressLine::is_due() {
  if (!wanted_) return false;
  const auto now = BootClock::now();
  if (now < next_) return false;
  next_ = now + interval;
  return true;
}

void ProgressLine::write(const std::string& text) {
  // A longer text would wrap to the next line, which is never erased.
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  std::fprintf(stderr, "\r%s\x1b[K", known ? cut_to(text, size.ws_col - 1U).c_str() : text.c_str());
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::clear() {
  if (!shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

std::string progress_bar(std::int64_t done, std::int64_t all) {
  const auto share = all > 0 ? std::min(1.0, static_cast<double>(done) / static_cast<double>(all)) : 1.0;
  const auto filled = static_cast<std::size_t>(share * bar_width);
  return fmt::format("[{}{}] {:3.0f}%", std::string(filled, '#'), std::string(bar_width - filled, '.'), share * 100);
}

namespace {

constexpr Duration before_first_line = std::chrono::milliseconds(400);
constexpr Duration between_lines = std::chrono::seconds(1);

/// Signals belong to the waiting thread.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

void keep_printing(const std::stop_token& stop, const WaitLine::Describe& describe) {
  ProgressLine line;
  std::mutex mutex;
  std::condition_variable_any over;
  std::unique_lock lock(mutex);
  for (auto pause = before_first_line; !over.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); });
       pause = between_lines) {
    const auto text = describe();
    if (!text.empty() && !stop.stop_requested()) line.show([&] { return text; });
  }
}

}  // namespace

WaitLine::WaitLine(Describe describe) {
  const NoSignals none;
  try {
    thread_ =
        std::jthread([describe = std::move(describe)](const std::stop_token& stop) { keep_printing(stop, describe); });
  } catch (const std::system_error&) {
    // No thread is available: the wait shows no line.
  }
}

WaitLine::~WaitLine() = default;

bool wants_wait_line(const Context& context, Duration wait, bool quiet) {
  return wait > Duration(0) && !context.json && !quiet && on_terminal();
}

std::string waits_for_locks(const Locks& locks, const std::vector<std::string>& names) {
  for (const auto& name : names) {
    const auto lock = locks.show(name);
    if (!lock || !is_taken(*lock)) continue;
    const auto where = lock->holders > 1 ? "" : fmt::format(" on {}", printable(lock->holder.host));
    return fmt::format("waiting for {}: held by {}{}, frees {}", printable(name), holders_text(*lock), where,
                       frees_text(*lock));
  }
  return fmt::format("waiting for {}", names_text(names));
}

std::string waits_for_job(const Store& store, const std::string& queue) {
  const auto info = store.queues().show(queue);
  auto text = fmt::format("waiting for a job in {}", printable(queue));
  if (!info) return text;
  const std::pair<std::int64_t, const char*> counts[] = {{info->available, "available"},
                                                         {info->running, "running"},
                                                         {info->deferred, "deferred"},
                                                         {info->blocked, "blocked"}};
  std::string there;
  for (const auto& [count, what] : counts) {
    if (count > 0) there += fmt::format("{}{} {}", there.empty() ? "" : ", ", count, what);
  }
  text += ": " + (there.empty() ? "it is empty" : there);
  if (info->next_due_at) text += ", next due " + with_distance(*info->next_due_at, info->store_now);
  return text + (info->paused ? "; it is paused" : "");
}

}  // namespace leasehold::cli
