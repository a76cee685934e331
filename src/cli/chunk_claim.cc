// leasehold chunk claim: take chunks under a lease; no process stays behind.
#include <memory>

#include "cli/caller.h"
#include "cli/chunk_options.h"
#include "cli/chunk_text.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "core/duration.h"
#include "core/job_limits.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

/// What --wait stands for when it is said without a duration.
constexpr const char* as_long_as_it_takes = "always";

struct ChunkClaimCommand {
  std::string set;
  std::string key;
  std::string holder;
  ChunkClaimOptions claim;
  int refused_code = exit_code::held;
  bool quiet = false;
};

void print_chunk(const Chunk& chunk, const std::string& until) {
  print("claimed {}  token {}  attempt {}  until {}", printable(chunk.key), chunk.token.value, chunk.attempt, until);
  print("  spec      {}", shown_text(chunk.spec));
  if (chunk.cursor) print("  cursor    {}", shown_text(*chunk.cursor));
  if (chunk.cursor || chunk.rows > 0) print("  rows      {}", chunk.rows);
  if (!chunk.previous_holder.empty()) {
    print("  previous  {} (on {})", printable(chunk.previous_holder), printable(chunk.previous_host));
  }
}

void print_chunks(const ChunkClaimCommand& options, const ChunkGrant& grant) {
  const auto until =
      fmt::format("{} ({})", local_time(grant.expires_at, grant.expires_at - grant.ttl), format_duration(grant.ttl));
  for (const auto& chunk : grant.chunks) {
    if (options.quiet) {
      print("{} {}", chunk.token.value, printable(chunk.key));
    } else {
      print_chunk(chunk, until);
    }
  }
  if (grant.replayed) say_line("again: this request id was granted before");
}

int claim(const Context& context, ChunkClaimCommand& options) {
  auto store = context.open_or_make_store();
  if (!store) return report(context, store.error());
  options.claim.key = options.key;
  options.claim.holder = calling_process(options.holder);
  const auto grant = store->chunks().claim(options.set, options.claim);
  if (!grant) return report(context, grant.error(), options.refused_code);
  if (context.json) {
    print_line(wire::to_json(*grant));
  } else {
    print_chunks(options, *grant);
  }
  return exit_code::ok;
}

void take_wait(Duration& wait, const std::string& text) {
  const auto parsed = text == as_long_as_it_takes ? Result<Duration>(max_delay) : parse_duration(text);
  if (!parsed) throw CLI::ValidationError("--wait", parsed.error().message);
  wait = *parsed;
}

void add_wait(CLI::App& command, Duration& wait) {
  command
      .add_option_function<std::string>(
          "--wait", [&wait](const std::string& text) { take_wait(wait, text); },
          "How long to wait for a chunk; without a duration, until there is one or the set is final (default: not)")
      ->expected(0, 1)
      ->default_str(as_long_as_it_takes)
      ->type_name("[DURATION]");
}

void add_options(CLI::App& command, ChunkClaimCommand& options) {
  add_set_name(command, options.set);
  command.add_option("KEY", options.key, "This chunk, also while it backs off (default: the next)")->type_name("");
  add_number(command, "-n,--most", options.claim.most, 1, max_claim, "Up to N chunks under one lease (default 1)");
  add_duration(command, "--ttl", options.claim.ttl,
               "How long the lease lasts without a heartbeat (default: the set's own, else 2m)");
  add_wait(command, options.claim.wait);
  add_optional_duration(command, "--older", options.claim.older_than,
                        "When nothing is open: load again what was completed longer ago than this");
  add_holder(command, options.holder);
  command
      .add_option("--request-id", options.claim.request_id,
                  "Makes repeating harmless: the same id gives the first answer again")
      ->check(not_empty)
      ->type_name("ID");
  add_number(command, "-E,--conflict-exit-code", options.refused_code, 0, 255,
             "Exit with N instead of 75 when all that is open is held, or the wait ran out");
  command.add_flag("-q,--quiet", options.quiet, "Print nothing but token and key of each chunk");
}

}  // namespace

void add_chunk_claim(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "claim",
      "Take the next chunks of a set, with the cursor they were left at (exit code 3: the set is final, or all that is "
      "open backs off)",
      {"leasehold chunk claim orders", "leasehold chunk claim orders 1-10000 --ttl 5m",
       "leasehold chunk claim orders --wait --json | jq '.chunks[0] | {spec, cursor, rows, token}'",
       "leasehold chunk claim orders --older 1d    # go on with what was loaded more than a day ago",
       "while read -r token key < <(leasehold chunk claim orders --wait -q); do\n"
       "    ./load \"$key\" && leasehold chunk complete orders \"$key\" --token \"$token\"\n"
       "  done"});
  auto options = std::make_shared<ChunkClaimCommand>();
  add_options(*command, *options);
  set_action(*command, context, [&context, options] { return claim(context, *options); });
}

}  // namespace leasehold::cli
