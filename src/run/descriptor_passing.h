// Descriptors as the content of a packet, over a SOCK_SEQPACKET socketpair.
#pragma once

#include <string>
#include <vector>

#include "run/unique_fd.h"

namespace leasehold::run {

struct Parcel {
  std::string label;                    ///< up to max_label bytes, never empty
  std::vector<UniqueFd> descriptors{};  ///< up to max_descriptors

  static constexpr std::size_t max_label = 16;
  static constexpr std::size_t max_descriptors = 8;
};

/// Never blocks; the sender keeps what it sends. False: the peer is gone, or has not listened for long.
bool send_parcel(int socket, const Parcel& parcel);

enum class Delivery { arrived, none, closed };
/// Takes one that is there. What arrives is closed on exec.
Delivery receive_parcel(int socket, Parcel& parcel);

}  // namespace leasehold::run
