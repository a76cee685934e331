// Waiting for jobs of several queues at once.
#include <utility>
#include <vector>

#include "queue/jobs.h"

namespace leasehold {

struct JobWatch::Impl {
  std::shared_ptr<const Jobs::Impl> jobs;
  std::vector<std::string> topics;
  std::unique_ptr<storage::ChangeWatch> watch;

  /// True: the store did not know of some of them. What came before it was told went unnoticed.
  bool tell_store() {
    bool told = false;
    for (const auto& topic : topics) {
      if (jobs->awaited->known(topic, BootClock::now())) continue;
      jobs->awaited->tell_store(*jobs->backend, topic, jobs->deadline());
      told = true;
    }
    return told;
  }
};

JobWatch::JobWatch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JobWatch::JobWatch(JobWatch&&) noexcept = default;
JobWatch& JobWatch::operator=(JobWatch&&) noexcept = default;
JobWatch::~JobWatch() = default;

void JobWatch::wait(BootTime until) {
  if (!impl_->tell_store()) impl_->watch->wait(until);
}

void JobWatch::wake() { impl_->watch->wake(); }

JobWatch Jobs::watch(std::span<const std::string> queues) const {
  auto impl = std::make_unique<JobWatch::Impl>();
  impl->jobs = impl_;
  for (const auto& queue : queues) impl->topics.push_back("queue:" + queue);
  // A watch knows one topic or all of them.
  impl->watch = impl_->backend->watch(impl->topics.size() == 1 ? impl->topics.front() : "");
  return JobWatch(std::move(impl));
}

}  // namespace leasehold
