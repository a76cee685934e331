// How the server performs acts and tools: on which threads, for how long, and for whom.
#include <exception>

#include "observe/metrics.h"
#include "serve/api.h"
#include "serve/pages.h"
#include "serve/site.h"

namespace leasehold::serve {
namespace {

/// For those who asked to wait while too many others wait.
constexpr Duration before_next_try = std::chrono::seconds(1);

}  // namespace

void Site::run_patiently(std::shared_ptr<Visit> visit, bool asks_to_wait) {
  std::function<void()> waiting = [this, visit] { perform(*visit, Turn::waits); };
  if (asks_to_wait && waits_.run_at_once(waiting)) return;
  // On these threads nothing waits, whatever the request says. If every thread waits already, the answer comes at once,
  // and says when to repeat the request.
  const auto turn = asks_to_wait ? Turn::too_many_wait : Turn::at_once;
  acts_.run([this, visit = std::move(visit), turn] { perform(*visit, turn); });
}

void Site::perform(Visit& visit, Turn turn) {
  const auto& request = visit.request;
  // It has waited for its thread. What a claim took now would stay with a client that does not know of it.
  if (request.moot.stop_requested()) {
    return finish(visit, problem(request, 503, "unavailable", "the request waited too long for its turn"));
  }
  const auto caller = callers_.find(request);
  if (!caller) return finish(visit, problem(request, caller.error()));
  visit.caller = caller->name;
  std::stop_source no_wait;
  no_wait.request_stop();
  try {
    finish(visit, turn == Turn::waits ? act_patiently(visit, *caller)
                                      : perform_for(visit, *caller, no_wait.get_token(), turn));
  } catch (const std::exception& error) {
    finish(visit, problem(request, {.code = Errc::internal, .message = error.what()}));
  }
}

Response Site::act_patiently(const Visit& visit, const Caller& caller) {
  std::stop_source stop;
  const auto end = [&stop] { stop.request_stop(); };
  const auto token = tokens_.watch(caller.token);
  const observe::Present present(observe::process().waiting_acts);
  const std::stop_callback gone(visit.request.gone, end);
  const std::stop_callback ended(token->get_token(), end);
  return perform_for(visit, caller, stop.get_token(), Turn::waits);
}

Response Site::perform_for(const Visit& visit, const Caller& caller, const std::stop_token& stop, Turn turn) {
  return visit.act != nullptr ? act(visit, caller, stop, turn)
                              : mcp_response(visit.request, store_, caller, options_.read_only, stop);
}

Response Site::act(const Visit& visit, const Caller& caller, const std::stop_token& stop, Turn turn) {
  const auto& request = visit.request;
  auto arguments = reads(request.method) ? arguments_in_query(*visit.act, request.query) : request.body;
  if (!arguments) return problem(request, arguments.error());
  const Performance performance{
      .store = store_,
      .request = request,
      .caller = caller,
      .act = *visit.act,
      .stop = stop,
      .log = options_.log,
      .retry_in = turn == Turn::too_many_wait ? std::optional(before_next_try) : std::nullopt};
  return performance.run(std::move(*arguments));
}

}  // namespace leasehold::serve
