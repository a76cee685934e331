#include "run/message.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace leasehold::run {
namespace {

constexpr std::size_t head_size = 2 + sizeof(std::int64_t);
/// The environment of a command is the longest, with a chunk's cursor in it.
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
  if (packet.size() > max_packet) return false;
  return ::send(fd_.get(), packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
         static_cast<ssize_t>(packet.size());
}

Channel::State Channel::receive(Message& message) const {
  std::string packet(max_packet, '\0');
  ssize_t size = 0;
  do {
    size = ::recv(fd_.get(), packet.data(), packet.size(), MSG_DONTWAIT);
  } while (size < 0 && errno == EINTR);
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
