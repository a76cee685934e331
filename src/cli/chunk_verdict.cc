#include "cli/chunk_verdict.h"

#include "cli/print.h"
#include "cli/report.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

std::string what_became_of(const std::string& key, const ChunkSettled& settled) {
  switch (settled.state) {
    case ChunkState::completed: return fmt::format("completed {}", key);
    case ChunkState::skipped: return fmt::format("skipped {}", key);
    case ChunkState::exhausted: return fmt::format("failed {} for good: it is exhausted", key);
    case ChunkState::deferred: break;
    case ChunkState::available:
    case ChunkState::running:
    case ChunkState::expired: return fmt::format("returned {}: it is {}", key, to_string(settled.state));
  }
  const auto when = settled.due_at ? " until " + local_time(*settled.due_at, wall_clock()) : "";
  return fmt::format("deferred {}{}", key, when);
}

void tell_end_of_set(const std::string& set, ChunkSetState state) {
  if (state == ChunkSetState::complete) say("that was the last one: {} is complete", printable(set));
  if (state == ChunkSetState::partial) say("that was the last one: {} ends partial", printable(set));
}

}  // namespace

int settle(const Context& context, const NamedChunk& chunk, const SayVerdict& say_verdict) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto settled = say_verdict(store->chunks());
  if (!settled) return report(context, settled.error());
  if (context.json) {
    print_line(wire::to_json(chunk.set, chunk.key, *settled));
    return exit_code::ok;
  }
  print("{}{}", what_became_of(printable(chunk.key), *settled), settled->replayed ? "  (said before)" : "");
  tell_end_of_set(chunk.set, settled->set_state);
  return exit_code::ok;
}

}  // namespace leasehold::cli
