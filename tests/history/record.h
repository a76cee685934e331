// The record that a process of the load writes of its acts: a line before each request and a line after its answer.
//
//   Recorder recorder(file, 3);
//   const auto act = recorder.begin("lock", "acquire", "run1/lock-0", {});
//   ... the request ...
//   recorder.end(act, "ok", Fields().add("token", 17));
//
// A line is one write(2) to a file opened with O_APPEND, so that kill -9 loses nothing but the answer to the act under
// way. The format is in README.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace leasehold::history {

/// CLOCK_BOOTTIME, asked of the kernel itself: the stamps of all processes of one machine can be compared.
using Nanoseconds = std::int64_t;
Nanoseconds boot_nanoseconds();

/// " name=value name=value". Values have no spaces.
class Fields {
 public:
  Fields& add(std::string_view name, std::string_view value);
  Fields& add(std::string_view name, std::int64_t value);
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class Recorder {
 public:
  /// Throws std::runtime_error when the file cannot be opened.
  Recorder(const std::string& file, int process);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder();

  /// The first line of a process; the last line, when it ends in order.
  void hello();
  void bye();

  /// Gives the act's number.
  std::int64_t begin(std::string_view feature, std::string_view verb, std::string_view key, const Fields& asked);
  void end(std::int64_t act, std::string_view outcome, const Fields& reported);

  [[nodiscard]] int process() const { return process_; }
  [[nodiscard]] std::int64_t acts() const { return acts_; }

 private:
  void write(const std::string& line) const;

  int process_;
  int file_ = -1;
  std::int64_t acts_ = 0;
};

}  // namespace leasehold::history
