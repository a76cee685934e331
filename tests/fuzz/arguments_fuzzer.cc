// Arguments of acts as HTTP and `lh_call` give them: the first line names an act, JSON follows. They are read and
// checked, or refused in one line; what was read is written and read again; what they touch is known.
#include <memory>
#include <string>

#include "act/act.h"
#include "base/json.h"
#include "base/text.h"
#include "fuzz/property.h"
#include "model/json.h"
#include "serve/api.h"

namespace leasehold::fuzz {
namespace {

constexpr Timestamp some_day{std::chrono::sys_days(std::chrono::year(2026) / 3 / 1)};

void check_refusal(const Error& error) {
  require(error.code == Errc::invalid_argument, "arguments that cannot be read are an invalid argument");
  require(is_utf8(error.message) && error.message.find('\n') == std::string::npos, "a message is one line of text");
  require(!error.message.empty() && error.message.size() < 2000, "a message is short, however long the arguments");
}

struct Read {
  std::shared_ptr<void> values{};
  std::string written{};
};

/// Nothing if they are refused.
std::optional<Read> read(const act::Act& act, std::string_view arguments) {
  Read read{.values = act.fresh()};
  const model::Target target{act.arguments(), read.values.get()};
  if (const auto filled = model::read_json(arguments, target, some_day); !filled) {
    check_refusal(filled.error());
    return std::nullopt;
  }
  if (const auto checked = model::check_fields({act.arguments(), read.values.get()}); !checked) {
    check_refusal(checked.error());
    return std::nullopt;
  }
  require(is_json_object(arguments), "arguments are an object");
  read.written = model::to_json(model::Object{act.arguments(), read.values.get()});
  require(is_json(read.written), "arguments are written as JSON");
  return read;
}

void check_arguments(const act::Act& act, std::string_view arguments) {
  const auto first = read(act, arguments);
  if (!first) return;
  const auto again = read(act, first->written);
  require(again.has_value(), "what was written can be read");
  require(again->written == first->written, "what was read again is the same");
  require(act::touched_by(act, arguments).ok(), "what arguments touch is known");
}

/// A query gives what the body would give, if it gives anything.
void check_query(const act::Act& act, std::string_view query) {
  const auto arguments = serve::arguments_in_query(act, query);
  if (!arguments) return check_refusal(arguments.error());
  require(is_json_object(*arguments), "a query is an object of arguments");
  check_arguments(act, *arguments);
}

}  // namespace
}  // namespace leasehold::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leasehold::fuzz;
  namespace act = leasehold::act;
  Input input(data, size);
  const auto name = input.part('\n');
  const auto* found = act::find(name);
  if (found == nullptr) {
    check_refusal(act::unknown_act(name));
    // Most changes hit the name, too: the rest is still worth a try.
    found = &act::all().at(name.size() % act::all().size());
  }
  check_arguments(*found, input.rest());
  check_query(*found, input.rest());
  return 0;
}
