#include "leasehold/election.h"

namespace leasehold {

Result<Leadership> Election::campaign(const CampaignOptions& options) const {
  auto held = locks_.hold(name_, {.ttl = options.ttl,
                                  .wait = options.wait,
                                  .holder = options.holder,
                                  .lock_delay = options.lock_delay,
                                  .stop = options.stop});
  if (!held) return std::move(held).error();
  return Leadership(std::move(*held));
}

}  // namespace leasehold
