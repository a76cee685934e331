#include "mcp/server.h"

#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <map>
#include <mutex>
#include <utility>

#include "base/json.h"
#include "base/pool.h"
#include "leasehold/limits.h"
#include "mcp/lines.h"

namespace leasehold::mcp {
namespace {

/// The request that a notification cancels, as its id was written; empty if it names none.
std::string cancelled_id(const Message& notification) {
  return std::string(json_member(notification.params, "requestId").value_or(""));
}

/// The calls under way, by the ids of their requests, so that the client can cancel them.
class Running {
 public:
  std::stop_token add(const std::string& id) {
    const std::lock_guard lock(mutex_);
    return (calls_[id] = Call()).stop.get_token();
  }
  /// Whether the client has cancelled it: then it expects no answer.
  bool remove(const std::string& id) {
    const std::lock_guard lock(mutex_);
    const auto call = calls_.extract(id);
    return !call.empty() && call.mapped().is_cancelled;
  }
  void cancel(const std::string& id) {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(id);
    if (found == calls_.end()) return;
    found->second.is_cancelled = true;
    found->second.stop.request_stop();
  }
  /// Ends what waits; it is answered even so.
  void end_waits() {
    const std::lock_guard lock(mutex_);
    for (auto& [id, call] : calls_) call.stop.request_stop();
  }

 private:
  struct Call {
    std::stop_source stop{};
    bool is_cancelled = false;
  };

  std::mutex mutex_;
  std::map<std::string, Call> calls_;
};

class Server {
 public:
  explicit Server(const ServerOptions& options)
      : desk_(options.open, options.agent),
        protocol_(desk_, tools_of(options.toolsets)),
        reader_(options.in, options.agent),
        writer_(options.out) {}

  void run() {
    while (auto line = reader_.next()) take(*line);
    running_.end_waits();
    waiting_.finish();
    prompt_.finish();
    if (reader_.agent_is_gone()) desk_.keeper().end_all("the agent's process is gone");
  }

 private:
  void take(const Reader::Line& line) {
    if (line.too_long) {
      return writer_.write_line(
          error_line("null", {.code = RpcCode::invalid_request,
                              .message = fmt::format("the line has more than {} bytes", bounds::mcp_line_bytes)}));
    }
    if (line.text.find_first_not_of(" \t\r") == std::string::npos) return;
    auto parsed = parse_message(line.text);
    if (parsed.error) return writer_.write_line(error_line(parsed.id, *parsed.error));
    auto& message = *parsed.message;
    if (message.method == "notifications/cancelled") return running_.cancel(cancelled_id(message));
    if (message.method.empty() || message.id.empty()) return;
    const auto stop = running_.add(message.id);
    auto& pool = Protocol::may_wait(message) ? waiting_ : prompt_;
    pool.run([this, stop, message = std::move(message)] { answer(message, stop); });
  }

  void answer(const Message& request, const std::stop_token& stop) {
    auto reply = protocol_.answer(request, stop);
    if (running_.remove(request.id)) return;
    if (const auto* error = std::get_if<RpcError>(&reply)) return writer_.write_line(error_line(request.id, *error));
    writer_.write_line(result_line(request.id, std::get<std::string>(reply)));
  }

  Desk desk_;
  Protocol protocol_;
  Reader reader_;
  Writer writer_;
  Running running_;
  // Last, so that their threads end first.
  Pool prompt_{4};
  Pool waiting_{16};
};

}  // namespace

void serve(const ServerOptions& options) { Server(options).run(); }

}  // namespace leasehold::mcp
