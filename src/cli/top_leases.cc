// The panel of everything that is held, by anyone.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "cli/print.h"
#include "cli/top_panel.h"
#include "core/duration.h"

namespace leasehold::cli {
namespace {

std::vector<std::string> row_of(const LeaseInfo& lease) {
  const bool expired = lease.state == LeaseState::expired;
  return {lease.kind,
          short_text(lease.key),
          coloured(lease.state),
          expired ? "now" : "in " + format_duration(lease.frees_in()),
          short_text(lease.holder.name),
          format_age(lease.heartbeat_age()),
          short_text(lease.holder.host)};
}

/// What has expired comes first. Within that the order does not move with every heartbeat: a row can be followed by
/// eye.
std::vector<LeaseInfo> in_order(std::vector<LeaseInfo> leases) {
  const auto place = [](const LeaseInfo& lease) {
    return std::tuple(lease.state != LeaseState::expired, std::string_view(lease.kind), std::string_view(lease.key),
                      lease.token);
  };
  std::sort(leases.begin(), leases.end(), [&](const LeaseInfo& a, const LeaseInfo& b) { return place(a) < place(b); });
  return leases;
}

}  // namespace

TopPanel lease_panel(const TopPicture& picture) {
  const auto is_expired = [](const LeaseInfo& lease) { return lease.state == LeaseState::expired; };
  const auto& leases = picture.leases;
  const auto expired = static_cast<std::size_t>(std::count_if(leases.begin(), leases.end(), is_expired));
  TopPanel panel{.name = "leases",
                 .summary = summary_of({{leases.size() - expired, "held"}, {expired, coloured(LeaseState::expired)}},
                                       leases.size()),
                 .columns = {"KIND",
                             {"KEY", Column::may_be_cut},
                             "STATE",
                             "FREES",
                             {"HOLDER", Column::may_be_cut},
                             "HEARTBEAT",
                             {"HOST", Column::may_be_cut}},
                 .rows = {}};
  for (const auto& lease : in_order(leases)) panel.rows.push_back(row_of(lease));
  return panel;
}

}  // namespace leasehold::cli
