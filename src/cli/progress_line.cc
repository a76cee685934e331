#include "cli/progress_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/print.h"

namespace leasehold::cli {
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
  std::fprintf(stderr, "\r%s\x1b[K", text.c_str());
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

}  // namespace leasehold::cli
