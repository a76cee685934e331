#include "storage/sqlite/write_gate.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

namespace leasehold::sqlite {
namespace {

constexpr int turnstile = 0;
constexpr int gate = 1;
constexpr Duration patience = std::chrono::milliseconds(300);
// Whoever waited in vain does not try again for a while: the one inside may be stopped for long.
constexpr Duration around_for = std::chrono::seconds(1);
// Short against a commit, long against a system call.
constexpr useconds_t pause_us = 60;

}  // namespace

WriteGate::WriteGate(const std::string& path) : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {}

WriteGate::~WriteGate() {
  if (file_ >= 0) ::close(file_);
}

// Locks of the open file, not of the process: they end with the last user of the descriptor, also by kill -9.
bool WriteGate::take(short what, int byte) const {
  struct flock request {};
  request.l_type = what;
  request.l_whence = SEEK_SET;
  request.l_start = byte;
  request.l_len = 1;
  return fcntl(file_, F_OFD_SETLK, &request) == 0;
}

bool WriteGate::wait_for(int byte, BootTime until) const {
  while (!take(F_WRLCK, byte)) {
    if (BootClock::now() >= until) return false;
    usleep(pause_us);
  }
  return true;
}

void WriteGate::enter(bool urgent, BootTime deadline) {
  const auto now = BootClock::now();
  if (file_ < 0 || now < walk_around_until_) return;
  const auto until = std::min(now + patience, deadline);
  const bool next = urgent || wait_for(turnstile, until);
  inside_ = next && wait_for(gate, until);
  if (next && !urgent) take(F_UNLCK, turnstile);
  if (!inside_) walk_around_until_ = BootClock::now() + around_for;
}

void WriteGate::leave() {
  if (!inside_) return;
  take(F_UNLCK, gate);
  inside_ = false;
}

}  // namespace leasehold::sqlite
