#include "session/owner.h"

#include <fmt/format.h>

#include "base/text.h"
#include "core/duration.h"
#include "session/answer.h"

namespace leasehold::session {
namespace {

/// On one line and not too long, whatever it is.
std::string in_brackets(std::string_view text) {
  if (text.empty()) return "";
  const auto safe = quoted(text);
  return fmt::format(" ({})", std::string_view(safe).substr(1, safe.size() - 2));
}

/// "of ann on db1 (pts/3)"
std::string describe_place(const Holder& holder) {
  auto place = " of " + holder.name;
  if (!holder.host.empty()) place += " on " + holder.host;
  constexpr std::string_view devices = "/dev/";
  std::string_view tty = holder.tty;
  if (tty.starts_with(devices)) tty.remove_prefix(devices.size());
  return place + in_brackets(tty);
}

}  // namespace

std::string describe_owner(const LeaseInfo& owner) {
  auto text = describe_session(owner.session) + in_brackets(owner.label) + describe_place(owner.holder);
  text += ", last heartbeat " + format_age(owner.heartbeat_age());
  if (owner.progress_at) text += ", last progress " + format_age(owner.store_now - *owner.progress_at);
  if (owner.taken_at) text += ", claimed " + format_age(owner.store_now - *owner.taken_at);
  if (owner.state == LeaseState::expired) return text + ", stale: the next one may take it";
  return text + fmt::format(", frees in {} unless it heartbeats", format_duration(owner.frees_in()));
}

}  // namespace leasehold::session
