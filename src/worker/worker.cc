#include "leasehold/worker.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "core/limits.h"
#include "worker/jobs_source.h"
#include "worker/runtime.h"

namespace leasehold {
namespace {

constexpr int most_at_once = 1000;

Result<void> check_range(const char* what, int value, int least) {
  if (value >= least && value <= most_at_once) return {};
  return Error{.code = Errc::invalid_argument,
               .message = fmt::format("a {} of {} is not between {} and {}", what, value, least, most_at_once)};
}

Result<void> check_options(const WorkerOptions& options, const worker::Handlers& handlers) {
  if (handlers.empty()) return Error{.code = Errc::invalid_argument, .message = "the worker has no handler: add one"};
  for (const auto& [queue, handler] : handlers) {
    if (auto checked = check_name("queue name", queue); !checked) return checked;
    if (!handler) return Error{.code = Errc::invalid_argument, .message = "the handler of " + queue + " is empty"};
  }
  if (auto checked = check_range("concurrency", options.concurrency, 1); !checked) return checked;
  if (auto checked = check_range("prefetch", options.prefetch, 0); !checked) return checked;
  if (options.grace < Duration(0)) return Error{.code = Errc::invalid_argument, .message = "the grace is negative"};
  return check_ttl(options.ttl);
}

}  // namespace

struct Worker::Impl {
  Store store;
  WorkerOptions options;
  worker::Handlers handlers;
};

Worker::Worker(const Store& store, WorkerOptions options)
    : impl_(std::make_unique<Impl>(Impl{store, std::move(options), {}})) {}
Worker::Worker(Worker&&) noexcept = default;
Worker& Worker::operator=(Worker&&) noexcept = default;
Worker::~Worker() = default;

Worker& Worker::handle(std::string queue, Handler handler) {
  impl_->handlers.insert_or_assign(std::move(queue), std::move(handler));
  return *this;
}

Result<WorkSummary> Worker::run(std::stop_token stop) {
  const auto& options = impl_->options;
  if (auto checked = check_options(options, impl_->handlers); !checked) return std::move(checked).error();
  auto holder = options.holder ? *options.holder : Holder::self();
  if (auto checked = check_holder(holder); !checked) return std::move(checked).error();
  try {
    worker::JobsSource source(impl_->store, worker::queues_of(impl_->handlers), std::move(holder), options.ttl);
    return worker::run_worker(source, impl_->handlers, options, stop);
  } catch (const std::system_error& error) {
    return Error{.code = Errc::unavailable, .message = fmt::format("the worker cannot start: {}", error.what())};
  }
}

}  // namespace leasehold
