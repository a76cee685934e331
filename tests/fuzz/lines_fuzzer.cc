// Lines of JSON that users give: a job, a planned chunk, a report of progress; and bytes as base64.
#include <algorithm>
#include <string>

#include "base/json.h"
#include "base/json_text.h"
#include "base/text.h"
#include "fuzz/property.h"
#include "model/bounds.h"
#include "model/lines.h"

namespace leasehold::fuzz {
namespace {

constexpr Timestamp some_day{std::chrono::sys_days(std::chrono::year(2026) / 3 / 1)};

/// The value of one field must not change another field.
NewJob defaults() {
  NewJob job;
  job.group = "as before";
  job.run_at = some_day;
  return job;
}

std::string_view trimmed_json(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

bool mentions(std::string_view line, std::string_view word) {
  return line.find(word) != std::string_view::npos || line.find('\\') != std::string_view::npos;
}

void check_envelope(std::string_view line) {
  const auto job = model::job_from(line, defaults(), some_day);
  if (!job) {
    const auto& message = job.error().message;
    require(job.error().code == Errc::invalid_argument, "a line that is no job is an invalid argument");
    require(is_utf8(message) && message.find('\n') == std::string::npos, "a message is one line of text");
    require(message.size() < 300, "a message is short, however long the line");
    return;
  }
  require(is_json(line), "a job is JSON");
  require(job->delay >= Duration(0), "a delay is not negative");
  if (!mentions(line, "group")) require(job->group == "as before", "what a line does not say stays");
  if (!mentions(line, "delay\":\"") && !mentions(line, "run_at")) {
    require(job->run_at == some_day, "a line that says no time does not change it");
  }
}

/// A value that is no string is passed on as it was written.
void check_payload(std::string_view value) {
  if (!is_json(value) || trimmed_json(value).starts_with('"')) return;
  const auto job = model::job_from("{\"payload\":" + std::string(value) + "}", {}, some_day);
  if (job) require(job->payload == trimmed_json(value), "a payload stays as it was written");
}

void check_planned_chunk(std::string_view line) {
  const auto chunk = model::planned_chunk_from(line);
  if (!chunk) {
    require(is_utf8(chunk.error().message), "a message is text");
    require(!is_json(line) || mentions(line, "key"), "JSON that names no key is a chunk");
    return;
  }
  require(is_json(line), "a chunk is JSON");
  require(chunk->spec == line, "the line is what to load, byte for byte");
  require(check_name("chunk key", chunk->key).ok(), "a chunk has a key that a store takes");
  const auto again = model::planned_chunk_from(line);
  require(again.ok() && again->key == chunk->key, "the same line is the same chunk");
}

void check_progress(std::string_view line) {
  const auto report = model::progress_from(line);
  if (!report) return;
  require(is_json(line), "progress is JSON");
  if (report->percent) require(*report->percent >= 0 && *report->percent <= 100, "a percentage is one");
  require(is_utf8(report->message) && is_utf8(report->stage), "what is reported of progress is text");
}

void check_base64(std::string_view bytes) {
  require(from_base64(to_base64(bytes)) == bytes, "bytes come back from base64");
  const auto read = from_base64(bytes);
  if (!read) return;
  const auto written = to_base64(*read);
  require(written.size() == bytes.size(), "base64 says how many bytes there are");
  // The last digit may have bits that mean nothing.
  require(bytes.empty() || written.substr(0, written.size() - 4) == bytes.substr(0, bytes.size() - 4),
          "base64 is written as it was read");
}

}  // namespace
}  // namespace leasehold::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leasehold::fuzz;
  const auto line = Input(data, size).rest();
  check_envelope(line);
  check_payload(line);
  check_planned_chunk(line);
  check_progress(line);
  check_base64(line);
  return 0;
}
