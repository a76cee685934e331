#include "cli/job_granted.h"

#include "cli/print.h"
#include "cli/report.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

void print_jobs(const JobGrant& grant, bool quiet) {
  const auto until =
      fmt::format("{} ({})", local_time(grant.expires_at, grant.expires_at - grant.ttl), format_duration(grant.ttl));
  for (const auto& job : grant.jobs) {
    if (quiet) {
      print("{} {}", job.id, job.token.value);
    } else {
      print("claimed {}  token {}  attempt {}  until {}", job.id, job.token.value, job.attempt, until);
    }
  }
  if (grant.replayed) say_line("again: this request id was granted before");
}

}  // namespace

int tell_granted(const Context& context, const Result<JobGrant>& grant, bool quiet, int refused_code) {
  if (!grant) return report(context, grant.error(), refused_code);
  if (context.json) {
    print_line(wire::to_json(*grant));
  } else {
    print_jobs(*grant, quiet);
  }
  return exit_code::ok;
}

}  // namespace leasehold::cli
