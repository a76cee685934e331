// leasehold job cancel, retry and rm with --all: the act on every job that matches.
#include <fmt/format.h>

#include "cli/bind/job_options.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "model/json.h"

namespace leasehold::cli {
namespace {

/// Repeats the act until no page is left; the sums.
Result<JobsChanged> change_every_page(const Jobs& jobs, JobBulk bulk) {
  JobsChanged total;
  for (;;) {
    auto page = jobs.bulk(bulk);
    if (!page) return page;
    total.matched += page->matched;
    total.changed += page->changed;
    total.skipped += page->skipped;
    if (!page->next) return total;
    bulk.filter.page = *page->next;
  }
}

std::string_view command_of(JobAction action) {
  return action == JobAction::remove ? "rm" : std::string_view(to_string(action));
}

std::string_view past_of(JobAction action) {
  switch (action) {
    case JobAction::cancel: return "cancelled";
    case JobAction::retry: return "retried";
    case JobAction::remove: break;
  }
  return "removed";
}

int report_changed(const Context& context, const AllJobs& all, const JobsChanged& changed) {
  const bool preview = !all.consent.yes;
  if (context.json) {
    print_line(model::to_json(changed));
  } else if (preview) {
    print("would {} {}", to_string(all.bulk.action), counted(changed.matched, "job"));
  } else {
    print("{} {}{}", past_of(all.bulk.action), counted(changed.changed, "job"),
          changed.skipped > 0 ? fmt::format("; {} could not be changed", changed.skipped) : "");
  }
  return exit_code::ok;
}

}  // namespace

void add_job_or_all(CLI::App& command, Context& context, JobId& id, AllJobs& all, JobAction action) {
  all.bulk.action = action;
  auto* one = add_job_id(command, id)->required(false);
  auto* every =
      command.add_flag("--all", all.wanted, "Every job that matches the filters, instead of one")->excludes(one);
  for (auto* filter : add_job_filter(command, all.bulk.filter)) filter->needs(every);
  add_consent(command, all.consent);
  after_parsing(command, context, [&all, one, action] {
    if (!all.wanted && one->count() == 0) throw CLI::ValidationError("ID", "name a job, or use --all");
    if (!all.wanted && action != JobAction::remove && all.consent.given()) {
      throw CLI::ValidationError("--yes", "--yes and --dry-run are for --all");
    }
  });
}

int change_all(const Context& context, const AllJobs& all) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  auto bulk = all.bulk;
  bulk.preview = !all.consent.yes;
  const auto changed = change_every_page(store->jobs(), bulk);
  if (!changed) return report(context, changed.error());
  if (!all.consent.given()) {
    return ask_for_yes(
        context, fmt::format("{} --all is about {}", command_of(all.bulk.action), counted(changed->matched, "job")));
  }
  return report_changed(context, all, *changed);
}

}  // namespace leasehold::cli
