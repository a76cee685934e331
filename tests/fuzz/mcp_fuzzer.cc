// Lines of the Model Context Protocol: how the input is split, what a line says, and that every answer is one line.
#include <unistd.h>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "fuzz/property.h"
#include "mcp/lines.h"
#include "mcp/message.h"

namespace leasehold::fuzz {
namespace {

/// All whole lines, as the server reads them from a client.
std::vector<std::string> lines_read(std::string_view bytes) {
  int ends[2] = {};
  require(::pipe(ends) == 0, "a pipe can be made");
  const auto size = ::write(ends[1], bytes.data(), bytes.size());
  require(size == static_cast<ssize_t>(bytes.size()), "the input fits into a pipe");
  ::close(ends[1]);
  std::vector<std::string> lines;
  {
    mcp::Reader reader(ends[0], Holder{.pid = ::getpid()});
    while (auto line = reader.next()) {
      require(!line->too_long, "no line is too long here");
      lines.push_back(std::move(line->text));
    }
  }
  ::close(ends[0]);
  return lines;
}

void check_answer(std::string_view id, const std::string& line) {
  require(line.find('\n') == std::string::npos, "an answer is one line");
  const auto read = mcp::parse_message(line);
  require(read.message && read.message->method.empty(), "an answer is read as an answer");
  require(id == "null" || read.message->id == id, "an answer has the id of its request, as that was written");
}

void check_line(std::string_view line) {
  const auto parsed = mcp::parse_message(line);
  require(parsed.message.has_value() != parsed.error.has_value(), "a line is a message, or it gets an error");
  if (parsed.error) {
    require((parsed.error->code == mcp::RpcCode::parse_error) == !is_json(line), "a parse error means: not JSON");
    require(is_utf8(parsed.error->message), "an error is text");
    // A text that is no message may have an invalid id: then the answer has null, which parse_message() refuses.
    if (parsed.id != "null") check_answer(parsed.id, mcp::error_line(parsed.id, *parsed.error));
    require(is_json(mcp::error_line(parsed.id, *parsed.error)), "an error is JSON");
    return;
  }
  const bool as_written =
      line.find(parsed.message->id) != std::string_view::npos &&
      (parsed.message->params == "{}" || line.find(parsed.message->params) != std::string_view::npos);
  require(as_written, "the id and the parameters are as the client wrote them");
  const auto params = parse_json(parsed.message->params);
  require(params.ok() && (parsed.message->method.empty() || params->is_object()), "the parameters are an object");
  if (!parsed.message->id.empty()) check_answer(parsed.message->id, mcp::result_line(parsed.message->id, "{}"));
}

}  // namespace
}  // namespace leasehold::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leasehold::fuzz;
  const Input input(data, size);
  std::string joined;
  for (const auto& line : lines_read(input.rest())) {
    check_line(line);
    joined += line + "\n";
  }
  require(input.rest().starts_with(joined), "lines come in their order, as they were written");
  require(input.rest().substr(joined.size()).find('\n') == std::string_view::npos, "no line is left out");
  return 0;
}
