#include "run/message.h"

#include <sys/socket.h>
#include <array>
#include <cerrno>
#include <cstring>

namespace leasehold::run {
namespace {

constexpr std::size_t control_size = CMSG_SPACE(sizeof(int) * Parcel::max_descriptors);

/// The kernel's layout: one text, and room for descriptors beside it.
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

namespace {

constexpr std::size_t head_size = 2 + sizeof(std::int64_t);
/// The largest packet is the environment of a command with a chunk's cursor in it.
constexpr std::size_t max_packet = 128 * 1024;

}  // namespace

std::string packed(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text.append(word).push_back('\0');
  return text;
}

std::vector<std::string> unpacked(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size(); at += words.back().size() + 1) words.emplace_back(text.c_str() + at);
  return words;
}

bool Channel::send(const Message& message) const {
  std::string packet(head_size, '\0');
  packet[0] = static_cast<char>(message.kind);
  packet[1] = static_cast<char>(message.reason);
  std::memcpy(&packet[2], &message.number, sizeof message.number);
  packet += message.text;
  if (packet.size() > max_packet) {
    errno = EMSGSIZE;
    return false;
  }
  return ::send(fd_.get(), packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
         static_cast<ssize_t>(packet.size());
}

Channel::State Channel::receive(Message& message) const {
  std::string packet(max_packet, '\0');
  ssize_t size = 0;
  do {
    size = ::recv(fd_.get(), packet.data(), packet.size(), MSG_DONTWAIT);
    // The peer is gone and has not read all our messages. Its own messages are still readable.
  } while (size < 0 && (errno == EINTR || errno == ECONNRESET));
  if (size < 0 && errno == EAGAIN) return State::empty;
  if (size < static_cast<ssize_t>(head_size)) return State::closed;
  message.kind = static_cast<Message::Kind>(packet[0]);
  message.reason = static_cast<EndReason>(packet[1]);
  std::memcpy(&message.number, &packet[2], sizeof message.number);
  message.text = packet.substr(head_size, static_cast<std::size_t>(size) - head_size);
  return State::open;
}

std::optional<ChannelPair> make_channels() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return std::nullopt;
  return ChannelPair{.wrapper = Channel(UniqueFd(ends[0])), .guardian = Channel(UniqueFd(ends[1]))};
}

}  // namespace leasehold::run
