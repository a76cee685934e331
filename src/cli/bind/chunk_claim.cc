// leasehold chunk claim, heartbeat.
#include <fmt/format.h>
#include <memory>

#include "base/time_text.h"
#include "cli/bind/chunk_options.h"
#include "cli/command.h"
#include "cli/print/chunk_text.h"
#include "cli/print/live.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/store_trouble.h"
#include "model/bounds.h"
#include "model/json.h"

namespace leasehold::cli {

// leasehold chunk claim: take chunks under a lease; no process stays behind.
namespace {

/// The value of --wait without a duration.
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
  if (chunk.previous_holder) {
    print("  previous  {} (on {})", printable(chunk.previous_holder->name), printable(chunk.previous_holder->host));
  }
}

void print_chunks(const ChunkClaimCommand& options, const ChunkGrant& grant) {
  const auto until =
      fmt::format("{} ({})", local_time(grant.expires_at, grant.expires_at - grant.ttl), format_duration(grant.ttl));
  for (const auto& chunk : grant.chunks) {
    if (options.quiet) {
      print("{} {}", printable(chunk.key), chunk.token.value);
    } else {
      print_chunk(chunk, until);
    }
  }
  if (grant.replayed) say_line("again: this request id was granted before");
}

/// "waiting for a chunk of orders: 12/40 done, 3 running, 1 deferred"
std::string waits_for_chunk(const Chunks& chunks, const std::string& set) {
  const auto info = chunks.progress(set);
  if (!info) return "";
  return fmt::format("waiting for a chunk of {}: {} done, {} running, {} deferred", printable(set), shown_count(*info),
                     info->running + info->expired, info->deferred);
}

int claim(const Context& context, ChunkClaimCommand& options) {
  auto store = open_within(options.claim.wait, context);
  if (!store) return report(context, store.error());
  options.claim.key = options.key;
  const Call call{.holder = calling_process(options.holder)};
  const auto chunks = store->chunks();
  const auto grant = say_while_waiting(
      wants_wait_line(context, options.claim.wait, options.quiet), [&] { return waits_for_chunk(chunks, options.set); },
      [&] { return chunks.claim(options.set, options.claim, call); });
  if (!grant) return report(context, grant.error(), options.refused_code);
  if (context.json) {
    print_line(model::to_json(*grant));
  } else {
    print_chunks(options, *grant);
  }
  return exit_code::ok;
}

void take_wait(Duration& wait, const std::string& text) {
  const auto parsed = text == as_long_as_it_takes ? Result<Duration>(bounds::max_delay) : parse_duration(text);
  if (!parsed) throw CLI::ValidationError("--wait", parsed.error().message);
  wait = *parsed;
}

void add_wait(CLI::App& command, Duration& wait) {
  command
      .add_option_function<std::string>(
          "--wait", [&wait](const std::string& text) { take_wait(wait, text); },
          "Wait up to this long for a chunk; without a duration, until there is one or the set is final (default: no "
          "wait)")
      ->expected(0, 1)
      ->default_str(as_long_as_it_takes)
      ->type_name("[DURATION]");
}

void add_options(CLI::App& command, ChunkClaimCommand& options) {
  add_set_name(command, options.set);
  command.add_option("KEY", options.key, "Claim this chunk, even during its backoff (default: the next)")
      ->type_name("");
  add_number(command, "-n,--max", options.claim.max, 1, bounds::max_claim,
             "Up to N chunks under one lease (default 1)");
  add_duration(command, "--ttl", options.claim.ttl,
               fmt::format("How long the lease lasts without a heartbeat (default: the set's own, else {})",
                           format_duration(defaults::chunk_ttl)));
  add_wait(command, options.claim.wait);
  add_duration(command, "--older-than", options.claim.older_than,
               "If no chunk is open, claim chunks completed longer ago than this");
  add_holder(command, options.holder);
  command
      .add_option("--request-id", options.claim.request_id,
                  "Make retries safe: the same id returns the first answer again")
      ->check(not_empty)
      ->type_name("ID");
  add_number(command, "-E,--conflict-exit-code", options.refused_code, 0, 255,
             "Exit with N instead of 75 when all open chunks are held, or the wait ran out");
  command.add_flag("-q,--quiet", options.quiet, "Print only key and token of each chunk");
}

}  // namespace

void add_chunk_claim(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "claim",
                  "Claim the next chunks of a set, with their last cursors (exit code 3: the set is final, or all open "
                  "chunks back off)",
                  {"leasehold chunk claim orders", "leasehold chunk claim orders 1-10000 --ttl 5m",
                   "leasehold chunk claim orders --wait --json | jq '.chunks[0] | {spec, cursor, rows, token}'",
                   "leasehold chunk claim orders --older-than 1d    # then reload chunks older than a day",
                   "while read -r key token < <(leasehold chunk claim orders --wait -q); do\n"
                   "    ./load \"$key\" && leasehold chunk complete orders \"$key\" --token \"$token\"\n"
                   "  done"});
  auto options = std::make_shared<ChunkClaimCommand>();
  add_options(*command, *options);
  set_action(*command, context, [&context, options] { return claim(context, *options); });
}

// leasehold chunk heartbeat: extend the lease of a chunk and save its progress, in one step.
namespace {

struct ChunkHeartbeatOptions {
  HeldChunk chunk;
  SaveOptions save;
  std::optional<Duration> ttl;
};

int heartbeat(const Context& context, const ChunkHeartbeatOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto& set = options.chunk.set;
  const auto& key = options.chunk.key;
  const auto extended = store->chunks().heartbeat(set, key, options.chunk.token, options.save.save(), options.ttl);
  if (!extended) return report(context, extended.error());
  if (context.json) {
    print_line(model::to_json(*extended));
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
      "Extend the lease of a chunk and save its cursor in one step; an expired lease is lost (exit code 76)",
      {R"(leasehold chunk heartbeat orders 1-10000 --token "$token" --cursor '{"page":17}' --rows 1700)",
       "leasehold chunk heartbeat --cursor 1700 --rows 1700    # under `chunk run`"});
  auto options = std::make_shared<ChunkHeartbeatOptions>();
  add_held_chunk(*command, context, options->chunk);
  add_save(*command, options->save);
  add_duration(*command, "--ttl", options->ttl, "New ttl of the lease (default: unchanged)");
  set_action(*command, context, [&context, options] { return heartbeat(context, *options); });
}

}  // namespace leasehold::cli
