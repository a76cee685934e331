#include "model/lines.h"

#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "base/json.h"
#include "base/text.h"
#include "model/job_text.h"
#include "model/json.h"

namespace leasehold::model {
namespace {

namespace json = boost::json;

/// Treats null as missing.
const json::value* said(const json::object& object, std::string_view key) {
  const auto* member = object.if_contains(key);
  return member != nullptr && !member->is_null() ? member : nullptr;
}

/// A line with a delay or a run_at replaces the default of either kind.
void choose_time(NewJob& job, const json::object& object) {
  const bool delay = said(object, "delay") != nullptr || said(object, "delay_seconds") != nullptr;
  const bool run_at = said(object, "run_at") != nullptr;
  if (delay && !run_at) job.run_at.reset();
  if (run_at && !delay) job.delay = Duration(0);
}

/// A string is the payload itself; any other value keeps its bytes, because parsing would round large numbers.
void read_payload(NewJob& job, std::string_view line, const json::object& object) {
  const auto* payload = object.if_contains("payload");
  if (payload == nullptr) return;
  const auto* text = payload->if_string();
  job.payload = text != nullptr ? std::string(*text) : std::string(json_member(line, "payload").value_or("null"));
}

/// The backoff as text: "5s..1h".
Result<void> read_backoff(NewJob& job, const json::string& text) {
  auto backoff = parse_backoff(text);
  if (!backoff) return invalid(fmt::format("\"backoff\": {}", backoff.error().message));
  job.backoff = *backoff;
  return {};
}

}  // namespace

Result<NewJob> job_from(std::string_view line, const NewJob& defaults, Timestamp now) {
  auto value = parse_json(line);
  if (!value) {
    return invalid(fmt::format("this is not JSON ({}): {}", value.error().message, leasehold::quoted(line)));
  }
  auto* object = value->if_object();
  if (object == nullptr) return invalid("this is not a JSON object: with --envelope every line is {\"payload\": ...}");
  auto job = defaults;
  choose_time(job, *object);
  const auto* backoff = said(*object, "backoff");
  const auto* backoff_text = backoff != nullptr ? backoff->if_string() : nullptr;
  if (backoff_text != nullptr) {
    if (auto read = read_backoff(job, *backoff_text); !read) return std::move(read).error();
  }
  std::vector<std::string_view> own = {"payload"};
  if (backoff_text != nullptr) own.emplace_back("backoff");
  if (auto read = read_json(line, {model::described<NewJob>(), &job}, now, own); !read) return std::move(read).error();
  read_payload(job, line, *object);
  return job;
}

}  // namespace leasehold::model
