#include "leasehold/loader.h"
#include "base/invalid.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "core/job_limits.h"
#include "core/limits.h"
#include "loader/chunks_source.h"
#include "loader/runtime.h"

namespace leasehold {
namespace {

constexpr int most_at_once = 1000;

Result<void> check_options(const std::string& set, const LoaderOptions& options) {
  if (auto checked = check_name("set name", set); !checked) return checked;
  if (options.concurrency < 1 || options.concurrency > most_at_once) {
    return invalid(fmt::format("a concurrency of {} is not between 1 and {}", options.concurrency, most_at_once));
  }
  if (options.grace < Duration(0)) return invalid("the grace is negative");
  if (options.once && options.keep_waiting) return invalid("once and keep_waiting do not go together");
  if (auto checked = check_delay("age", options.older_than.value_or(Duration(0))); !checked) return checked;
  return options.ttl == Duration(0) ? Result<void>() : check_ttl(options.ttl);
}

}  // namespace

struct Loader::Impl {
  Store store;
  std::string set;
  LoaderOptions options;
};

Loader::Loader(const Store& store, std::string set, LoaderOptions options)
    : impl_(std::make_unique<Impl>(Impl{store, std::move(set), std::move(options)})) {}
Loader::Loader(Loader&&) noexcept = default;
Loader& Loader::operator=(Loader&&) noexcept = default;
Loader::~Loader() = default;

Result<LoadSummary> Loader::run(const ChunkHandler& handler, std::stop_token stop) {
  const auto& options = impl_->options;
  if (!handler) return invalid("the handler is empty");
  if (auto checked = check_options(impl_->set, options); !checked) return std::move(checked).error();
  auto holder = options.holder ? *options.holder : Holder::self();
  if (auto checked = check_holder(holder); !checked) return std::move(checked).error();
  try {
    loader::ChunksSource source(impl_->store, impl_->set, std::move(holder), options);
    return loader::run_loader(source, handler, options, stop);
  } catch (const std::system_error& error) {
    return Error{.code = Errc::unavailable, .message = fmt::format("the loader cannot start: {}", error.what())};
  }
}

}  // namespace leasehold
