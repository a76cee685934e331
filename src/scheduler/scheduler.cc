#include "leasehold/scheduler.h"
#include "base/invalid.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "core/limits.h"
#include "scheduler/runtime.h"
#include "store/store_impl.h"

namespace leasehold {
namespace {

constexpr int most_at_once = 1000;

Result<void> check_duties(const scheduler::Duties& duties) {
  for (const auto& [schedule, handler] : duties.handlers) {
    if (auto checked = check_name("schedule name", schedule); !checked) return checked;
    if (!handler) return invalid("the handler of " + schedule + " is empty");
  }
  if (duties.run_anything() || duties.enqueue) return {};
  return invalid("the scheduler has nothing to do: add a handler, or let it enqueue");
}

Result<void> check_options(const SchedulerOptions& options) {
  if (options.concurrency < 1 || options.concurrency > most_at_once) {
    return invalid(fmt::format("a concurrency of {} is not between 1 and {}", options.concurrency, most_at_once));
  }
  if (options.grace < Duration(0)) return invalid("the grace is negative");
  return {};
}

}  // namespace

struct Scheduler::Impl {
  Store store;
  SchedulerOptions options;
  scheduler::Duties duties;
};

Scheduler::Scheduler(const Store& store, SchedulerOptions options)
    : impl_(std::make_unique<Impl>(Impl{store, std::move(options), {}})) {
  impl_->duties.enqueue = impl_->options.enqueue;
}
Scheduler::Scheduler(Scheduler&&) noexcept = default;
Scheduler& Scheduler::operator=(Scheduler&&) noexcept = default;
Scheduler::~Scheduler() = default;

Scheduler& Scheduler::handle(std::string schedule, RunHandler handler) {
  impl_->duties.handlers.insert_or_assign(std::move(schedule), std::move(handler));
  return *this;
}

Scheduler& Scheduler::handle_commands(CommandHandler handler) {
  impl_->duties.commands = std::move(handler);
  return *this;
}

Result<ScheduleSummary> Scheduler::run(std::stop_token stop) {
  const auto& options = impl_->options;
  if (auto checked = check_duties(impl_->duties); !checked) return std::move(checked).error();
  if (auto checked = check_options(options); !checked) return std::move(checked).error();
  const auto holder = options.holder ? *options.holder : Holder::self();
  if (auto checked = check_holder(holder); !checked) return std::move(checked).error();
  auto& store = *impl_->store.impl_;
  const scheduler::StoreParts parts{.schedules = impl_->store.schedules(),
                                    .backend = *store.backend,
                                    .awaited = *store.awaited,
                                    .reaper = *store.reaper,
                                    .call_timeout = store.call_timeout};
  try {
    return scheduler::run_scheduler(parts, impl_->duties, holder, options, stop);
  } catch (const std::system_error& error) {
    return Error{.code = Errc::unavailable, .message = fmt::format("the scheduler cannot start: {}", error.what())};
  }
}

}  // namespace leasehold
