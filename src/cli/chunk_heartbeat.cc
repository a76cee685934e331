// leasehold chunk heartbeat: extend the lease of a chunk and save how far it got, in one step.
#include <memory>

#include "cli/chunk_options.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct ChunkHeartbeatOptions {
  NamedChunk chunk;
  Token token;
  SaveOptions save;
  Duration ttl{};
};

int heartbeat(const Context& context, const ChunkHeartbeatOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto& [set, key] = options.chunk;
  const auto extended = store->chunks().heartbeat(set, key, options.token, options.save.save(), options.ttl);
  if (!extended) return report(context, extended.error());
  if (context.json) {
    print_line(wire::to_json(set, key, *extended));
  } else {
    print("extended {}  until {} ({})  {}", printable(key),
          local_time(extended->expires_at, extended->expires_at - extended->ttl), format_duration(extended->ttl),
          counted(extended->rows, "row"));
  }
  return exit_code::ok;
}

}  // namespace

void add_chunk_heartbeat(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "heartbeat",
      "Extend the lease of a chunk and save its cursor in one step; what has expired is lost (exit code 76)",
      {R"(leasehold chunk heartbeat orders 1-10000 --token "$token" --cursor '{"page":17}' --rows 1700)",
       "leasehold chunk heartbeat --cursor 1700 --rows 1700    # under `chunk run`"});
  auto options = std::make_shared<ChunkHeartbeatOptions>();
  add_named_chunk(*command, options->chunk);
  add_token(*command, options->token);
  add_save(*command, options->save);
  add_duration(*command, "--ttl", options->ttl, "A new ttl for the lease (default: it keeps its own)");
  set_action(*command, context, [&context, options] { return heartbeat(context, *options); });
}

}  // namespace leasehold::cli
