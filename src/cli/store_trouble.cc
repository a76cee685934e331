#include "cli/store_trouble.h"

#include <utility>

#include "cli/print.h"
#include "storage/boot_wait.h"

namespace leasehold::cli {
namespace {

constexpr Duration between_looks = std::chrono::seconds(1);

}  // namespace

bool may_come_back(const Error& error) { return error.code == Errc::unavailable || error.code == Errc::in_doubt; }

void StoreTrouble::tell(const Error& error) {
  if (std::exchange(told_, true)) return;
  say("leasehold: {}; trying again", printable(error.message));
}

bool StoreTrouble::passes(const Error& error, const std::stop_token& stop) {
  if (!may_come_back(error)) return false;
  tell(error);
  storage::sleep_until(BootClock::now() + between_looks, stop);
  return true;
}

}  // namespace leasehold::cli
