// Sends descriptors in a packet, over a SOCK_SEQPACKET socketpair.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/signals.h"

namespace leasehold::run {

struct Parcel {
  std::string label;                    ///< up to max_label bytes, never empty
  std::vector<UniqueFd> descriptors{};  ///< up to max_descriptors

  static constexpr std::size_t max_label = 16;
  static constexpr std::size_t max_descriptors = 8;
};

/// Never blocks; the sender keeps its descriptors. False: the peer is gone, or has not read for a long time.
bool send_parcel(int socket, const Parcel& parcel);

enum class Delivery { arrived, none, closed };
/// Receives a pending parcel. Its descriptors are closed on exec.
Delivery receive_parcel(int socket, Parcel& parcel);

// The messages between the wrapper and its guardian: one packet each, over a socketpair.
//
// Threading: a Channel may send from any thread and receives on one.

/// Why the tree was ended.
enum class EndReason : std::uint8_t {
  exited,          ///< the command ended by itself
  lease_ran_out,   ///< no heartbeat got through in time
  stop_requested,  ///< the wrapper requested it
  wrapper_died,
};

struct Message {
  enum class Kind : std::uint8_t {
    // from the wrapper
    grace,    ///< number: between SIGTERM and SIGKILL from now on
    command,  ///< text: a program that replaces the default one, and its arguments, each ended by NUL
    go,       ///< number: trusted_until; text: NAME=VALUE lines of the environment, each ended by NUL
    extend,   ///< number: the new trusted_until
    stop,     ///< end the tree; number: SIGKILL follows SIGTERM after this time at the latest
    signal,   ///< number: to be passed on to the command's process group
    // from the guardian
    started,       ///< number: the command's pid, which is its process group as well
    start_failed,  ///< number: errno
    suspended,     ///< the command was stopped by a signal (number)
    left_behind,   ///< the command is gone, but not its descendants; number: how many
    ended,         ///< the whole tree is gone; number: the command's wait status, or no_status; and why
    // from the warden
    guardian_died,  ///< the guardian was killed; the whole tree is gone
  };

  static constexpr std::int64_t no_status = -1;

  Kind kind = Kind::stop;
  std::int64_t number = 0;
  EndReason reason = EndReason::exited;
  std::string text = {};
};

/// Packs words without NUL into the text of a message, and unpacks them.
std::string packed(const std::vector<std::string>& words);
std::vector<std::string> unpacked(const std::string& text);

class Channel {
 public:
  enum class State { open, empty, closed };

  explicit Channel(UniqueFd fd) : fd_(std::move(fd)) {}

  /// Never blocks: a peer that does not read, because it was stopped, must not stop us as well.
  bool send(const Message& message) const;
  /// Receives a pending message. `closed`: the peer is gone, and all its messages were read.
  State receive(Message& message) const;
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
};

struct ChannelPair {
  Channel wrapper;
  Channel guardian;
};
std::optional<ChannelPair> make_channels();

}  // namespace leasehold::run
