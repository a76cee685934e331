// A separate process that keeps a session alive for as long as another process lives.
//
//   auto started = start_heartbeater({.session = id, .token = token, ...}, url);    // `session open --watch-pid`
//
// It is this tool again, as the hidden command `session watch` (session_watch.cc): in a session of its own, without our
// descriptors and in the root folder, so that it outlives the terminal and keeps no disk busy. It reads the token from
// its standard input: `ps` shows command lines to every user of the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "leasehold/lease.h"
#include "leasehold/result.h"

namespace leasehold::cli {

/// The instructions for a heartbeater.
struct HeartbeaterOrders {
  std::string session;
  Token token;
  std::int64_t pid = 0;
  std::int64_t process_start = 0;  ///< as in Holder
  Duration ttl{};
  BootTime until{};  ///< it ends by this moment
};

/// Reads the token from the heartbeater's standard input, and closes that; nothing if there is none.
std::optional<Token> read_heartbeater_token();

/// The report of a running heartbeater; any other text is an error.
inline constexpr const char* heartbeater_ready = "ready";
/// The descriptor of the report.
inline constexpr int heartbeater_report = 3;

/// Returns when the heartbeater has sent its first heartbeat; on error there is no heartbeater.
Result<void> start_heartbeater(const HeartbeaterOrders& orders, const std::string& store_url);

}  // namespace leasehold::cli
