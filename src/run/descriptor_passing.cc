#include "run/descriptor_passing.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace leasehold::run {
namespace {

constexpr std::size_t control_size = CMSG_SPACE(sizeof(int) * Parcel::max_descriptors);

/// As the kernel wants it: one text, and beside it room for descriptors.
struct Envelope {
  Envelope(char* text, std::size_t size) : part{.iov_base = text, .iov_len = size} {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
  }

  iovec part;
  msghdr header{};
  alignas(cmsghdr) std::array<char, control_size> control{};
};

void put_descriptors(Envelope& envelope, const std::vector<UniqueFd>& descriptors) {
  if (descriptors.empty()) return;
  const auto size = sizeof(int) * descriptors.size();
  envelope.header.msg_control = envelope.control.data();
  envelope.header.msg_controllen = CMSG_SPACE(size);
  auto* control = CMSG_FIRSTHDR(&envelope.header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(size);
  auto* at = CMSG_DATA(control);
  for (const auto& each : descriptors) {
    const int number = each.get();
    std::memcpy(at, &number, sizeof number);
    at += sizeof number;
  }
}

std::vector<UniqueFd> take_descriptors(Envelope& envelope) {
  std::vector<UniqueFd> descriptors;
  auto* control = CMSG_FIRSTHDR(&envelope.header);
  if (control == nullptr || control->cmsg_type != SCM_RIGHTS) return descriptors;
  const auto count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  const auto* at = CMSG_DATA(control);
  for (std::size_t i = 0; i < count; ++i) {
    int number = -1;
    std::memcpy(&number, at + i * sizeof number, sizeof number);
    descriptors.emplace_back(number);
  }
  return descriptors;
}

}  // namespace

bool send_parcel(int socket, const Parcel& parcel) {
  auto label = parcel.label;
  Envelope envelope(label.data(), label.size());
  put_descriptors(envelope, parcel.descriptors);
  return ::sendmsg(socket, &envelope.header, MSG_DONTWAIT | MSG_NOSIGNAL) == static_cast<ssize_t>(label.size());
}

Delivery receive_parcel(int socket, Parcel& parcel) {
  std::array<char, Parcel::max_label> text{};
  Envelope envelope(text.data(), text.size());
  envelope.header.msg_control = envelope.control.data();
  envelope.header.msg_controllen = envelope.control.size();
  ssize_t size = 0;
  do {
    size = ::recvmsg(socket, &envelope.header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size < 0 && errno == EAGAIN) return Delivery::none;
  if (size <= 0) return Delivery::closed;
  parcel.label.assign(text.data(), static_cast<std::size_t>(size));
  parcel.descriptors = take_descriptors(envelope);
  return Delivery::arrived;
}

}  // namespace leasehold::run
