#include "history/record.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>
#include <stdexcept>

namespace leasehold::history {

Nanoseconds boot_nanoseconds() {
  timespec now{};
  // Past the C library, whose clocks a preloaded library may bend: that is one of the faults to be judged.
  ::syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &now);
  return static_cast<Nanoseconds>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

Fields& Fields::add(std::string_view name, std::string_view value) {
  if (!value.empty()) text_ += fmt::format(" {}={}", name, value);
  return *this;
}

Fields& Fields::add(std::string_view name, std::int64_t value) {
  text_ += fmt::format(" {}={}", name, value);
  return *this;
}

Recorder::Recorder(const std::string& file, int process)
    : process_(process), file_(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (file_ < 0) throw std::runtime_error("cannot write " + file);
}

Recorder::~Recorder() { ::close(file_); }

void Recorder::hello() { write(fmt::format("hello {} {} pid={}\n", process_, boot_nanoseconds(), ::getpid())); }

void Recorder::bye() { write(fmt::format("bye {} {}\n", process_, boot_nanoseconds())); }

std::int64_t Recorder::begin(std::string_view feature, std::string_view verb, std::string_view key,
                             const Fields& asked) {
  const auto act = ++acts_;
  write(
      fmt::format("start {} {} {} {} {} {}{}\n", process_, act, boot_nanoseconds(), feature, verb, key, asked.text()));
  return act;
}

void Recorder::end(std::int64_t act, std::string_view outcome, const Fields& reported) {
  write(fmt::format("end {} {} {} {}{}\n", process_, act, boot_nanoseconds(), outcome, reported.text()));
}

void Recorder::write(const std::string& line) const {
  const auto written = ::write(file_, line.data(), line.size());
  // A history with holes proves nothing.
  if (written != static_cast<ssize_t>(line.size())) throw std::runtime_error("cannot write down what was done");
}

}  // namespace leasehold::history
