// leasehold mcp: serve coding agents over the Model Context Protocol.
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "cli/command.h"
#include "cli/print/report.h"
#include "mcp/server.h"

namespace leasehold::cli {
namespace {

struct McpOptions {
  std::vector<std::string> toolsets;
  std::int64_t watch_pid = 0;
};

/// The process whose life the sessions share: the agent, above the shells that started this server.
Result<Holder> agent_for(const McpOptions& options) {
  if (options.watch_pid != 0) return holder_of_process(options.watch_pid);
  const auto agent = agent_process();
  return holder_of_process(agent ? agent->pid : ::getppid());
}

std::vector<mcp::Toolset> toolsets_of(const McpOptions& options) {
  std::vector<mcp::Toolset> chosen{mcp::Toolset::claims, mcp::Toolset::locks};
  for (const auto& word : options.toolsets) {
    const auto toolset = mcp::toolset_from(word);
    if (toolset && std::find(chosen.begin(), chosen.end(), *toolset) == chosen.end()) chosen.push_back(*toolset);
  }
  return chosen;
}

int serve(const Context& context, const McpOptions& options) {
  auto agent = agent_for(options);
  if (!agent) return report(context, agent.error());
  mcp::serve({.toolsets = toolsets_of(options),
              .open = [&context] { return context.open_or_make_store(); },
              .agent = std::move(*agent),
              .in = STDIN_FILENO,
              .out = STDOUT_FILENO});
  return exit_code::ok;
}

}  // namespace

void add_mcp(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "mcp", "Serve a coding agent over the Model Context Protocol on stdio",
                              {"claude mcp add leasehold -- leasehold mcp", "leasehold mcp --tools jobs,schedules"});
  auto options = std::make_shared<McpOptions>();
  command->add_option("--tools", options->toolsets, "Toolsets beside claims and locks: jobs, chunks, schedules, rows")
      ->delimiter(',')
      ->check(CLI::IsMember(mcp::toolset_words()))
      ->type_name("NAMES");
  command
      ->add_option("--watch-pid", options->watch_pid,
                   "The process whose end frees its items (default: the nearest one above that is no shell)")
      ->type_name("PID");
  set_action(*command, context, [&context, options] { return serve(context, *options); });
}

}  // namespace leasehold::cli
