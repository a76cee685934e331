#include <algorithm>
#include <utility>

#include "cli/pages/pages.h"

namespace leasehold::cli {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

/// Their word, our word. A word may stand here more than once: the first that the command has is meant.
constexpr Pair synonyms[] = {
    // commands
    {"list", "ls"},
    {"get", "show"},
    {"info", "show"},
    {"status", "show"},
    {"describe", "show"},
    {"delete", "rm"},
    {"del", "rm"},
    {"remove", "rm"},
    {"create", "open"},
    {"create", "set"},
    {"create", "add"},
    {"new", "add"},
    {"enqueue", "add"},
    {"push", "add"},
    {"insert", "add"},
    {"submit", "add"},
    {"define", "set"},
    {"configure", "set"},
    {"config", "set"},
    {"update", "set"},
    {"take", "acquire"},
    {"take", "claim"},
    {"lock", "acquire"},
    {"grab", "acquire"},
    {"acquire", "claim"},
    {"acquire", "take"},
    {"claim", "take"},
    {"claim", "acquire"},
    {"fetch", "claim"},
    {"dequeue", "claim"},
    {"pop", "claim"},
    {"reserve", "claim"},
    {"next", "claim"},
    {"renew", "heartbeat"},
    {"extend", "heartbeat"},
    {"touch", "heartbeat"},
    {"keepalive", "heartbeat"},
    {"unlock", "release"},
    {"free", "release"},
    {"drop", "release"},
    {"nack", "fail"},
    {"error", "fail"},
    {"done", "complete"},
    {"ack", "complete"},
    {"finish", "complete"},
    {"succeed", "complete"},
    {"complete", "done"},
    {"start", "open"},
    {"begin", "open"},
    {"register", "open"},
    {"stop", "close"},
    {"end", "close"},
    {"exec", "run"},
    {"force-release", "revoke"},
    {"break", "revoke"},
    {"steal", "revoke"},
    {"kill", "revoke"},
    {"discard", "cancel"},
    {"abort", "cancel"},
    {"requeue", "retry"},
    {"handoff", "transfer"},
    {"handover", "transfer"},
    {"limit", "rate"},
    {"worker", "work"},
    {"cron", "schedule"},
    {"log", "events"},
    {"cleanup", "prune"},
    {"vacuum", "prune"},
    {"keep", "retention"},
    {"rescue", "recover"},
    {"undo", "revert"},
    {"rollback", "revert"},
    {"down", "revert"},
    {"unadopt", "revert"},
    {"rm", "revert"},
    {"remove", "revert"},
    {"delete", "revert"},
    {"drop", "revert"},
    {"up", "apply"},
    {"migrate", "apply"},
    {"update", "apply"},
    {"adopt", "apply"},
    {"check", "verify"},
    {"diff", "verify"},
    {"doctor", "verify"},
    {"status", "verify"},
    {"test", "try"},
    {"dry-run", "plan"},
    {"preview", "plan"},
    {"tables", "ls"},
    {"run", "work"},
    {"exec", "work"},
    {"process", "work"},
    {"reclaim", "recover"},
    {"heal", "recover"},
    {"version", "--version"},
    // options
    {"--limit", "--max"},
    {"--most", "--max"},
    {"--count", "--max"},
    {"--batch", "--max"},
    {"--timeout", "--wait"},
    {"--lease", "--ttl"},
    {"--stale-after", "--ttl"},
    {"--visibility-timeout", "--ttl"},
    {"--after", "--depends-on"},
    {"--after", "--page"},
    {"--before", "--page"},
    {"--cursor", "--page"},
    {"--offset", "--page"},
    {"--limit-key", "--group"},
    {"--max-per-key", "--max-per-group"},
    {"--for-good", "--final"},
    {"--no-retry", "--final"},
    {"--tries", "--max-failures"},
    {"--retries", "--max-failures"},
    {"--attempts", "--max-failures"},
    {"--failure-budget", "--max-failures"},
    {"--crashes", "--max-crashes"},
    {"--crash-budget", "--max-crashes"},
    {"--status", "--state"},
    {"--older", "--older-than"},
    {"--owner", "--holder"},
    {"--agent", "--holder"},
    {"--force", "--yes"},
    {"--unique", "--dedupe"},
    {"--tail", "--follow"},
};

/// Group and word, and the command that is meant.
struct Elsewhere {
  std::string_view group;
  std::string_view word;
  std::string_view meant;
};
constexpr Elsewhere elsewhere[] = {
    {"leasehold claim", "done", "leasehold item done"},
    {"leasehold claim", "complete", "leasehold item done"},
    {"leasehold claim", "add", "leasehold item add"},
    {"leasehold item", "take", "leasehold claim take"},
    {"leasehold item", "claim", "leasehold claim take"},
    {"leasehold item", "release", "leasehold claim release"},
    {"leasehold job", "work", "leasehold work"},
    {"leasehold job", "run", "leasehold work"},
    {"leasehold job", "pause", "leasehold queue pause"},
    {"leasehold queue", "add", "leasehold job add"},
    {"leasehold queue", "work", "leasehold work"},
    {"leasehold queue", "claim", "leasehold job claim"},
    {"leasehold lock", "elect", "leasehold elect"},
    {"leasehold", "enqueue", "leasehold job add"},
    {"leasehold", "acquire", "leasehold lock acquire"},
    {"leasehold", "run", "leasehold lock run"},
    {"leasehold", "leases", "leasehold top"},
    {"leasehold row", "adopt", "leasehold adopt apply"},
    {"leasehold row", "revert", "leasehold adopt revert"},
    {"leasehold adopt", "claim", "leasehold row claim"},
    {"leasehold adopt", "work", "leasehold row work"},
    {"leasehold adopt", "recover", "leasehold row recover"},
};

}  // namespace

std::string synonym_of(std::string_view word, const std::vector<std::string>& candidates) {
  for (const auto& [theirs, ours] : synonyms) {
    if (theirs != word) continue;
    if (std::find(candidates.begin(), candidates.end(), ours) != candidates.end()) return std::string(ours);
  }
  return "";
}

std::string command_elsewhere(std::string_view command, std::string_view word) {
  for (const auto& [group, theirs, meant] : elsewhere) {
    if (group == command && theirs == word) return std::string(meant);
  }
  return "";
}

}  // namespace leasehold::cli
