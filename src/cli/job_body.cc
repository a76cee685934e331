// leasehold job payload, leasehold job result: the bytes themselves, as they were given.
#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "cli/job_options.h"
#include "cli/report.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

using Read = Result<std::string> (Jobs::*)(JobId) const;

int print_body(const Context& context, JobId id, std::string_view key, Read read) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto jobs = store->jobs();
  const auto body = (jobs.*read)(id);
  if (!body) return report(context, body.error());
  const auto shown = context.json ? wire::bytes_object(key, *body) + "\n" : *body;
  std::fwrite(shown.data(), 1, shown.size(), stdout);
  return exit_code::ok;
}

}  // namespace

void add_job_payload(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "payload", "Print a job's payload, byte for byte",
                              {"leasehold job payload 17 | ./send", "leasehold job payload 17 | jq ."});
  auto id = std::make_shared<JobId>();
  add_job_id(*command, *id);
  set_action(*command, context, [&context, id] { return print_body(context, *id, "payload", &Jobs::payload); });
}

void add_job_result(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "result", "Print what `job complete` left, byte for byte (exit code 4: nothing)",
                  {"leasehold job wait 17 && leasehold job result 17 > thumbnail.png"});
  auto id = std::make_shared<JobId>();
  add_job_id(*command, *id);
  set_action(*command, context, [&context, id] { return print_body(context, *id, "result", &Jobs::result); });
}

}  // namespace leasehold::cli
