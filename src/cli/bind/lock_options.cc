#include "cli/bind/lock_options.h"

#include <fmt/format.h>
#include <charconv>
#include <string_view>

#include "base/text.h"
#include "base/time_text.h"
#include "cli/command.h"
#include "cli/print/lock_text.h"
#include "cli/print/print.h"
#include "cli/run/wrapper_variables.h"

namespace leasehold::cli {
namespace {

constexpr const char* permits_form = "write --permits 2/8 for two of eight";

/// Removes a number from the front of a text.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  return number;
}

/// Removes " of " or "/" from the front of a text.
bool take_separator(std::string_view& text) {
  for (const std::string_view separator : {" of ", "/"}) {
    if (!text.starts_with(separator)) continue;
    text.remove_prefix(separator.size());
    return true;
  }
  return false;
}

[[noreturn]] void refuse(const char* option, const std::string& why) { throw CLI::ValidationError(option, why); }

Share read_permits(std::string_view words, const std::optional<std::int64_t>& capacity) {
  Share share;
  auto rest = words;
  const auto permits = take_number(rest);
  const bool has_capacity = permits && take_separator(rest);
  if (has_capacity) share.capacity = take_number(rest);
  if (!permits || !rest.empty() || (has_capacity && !share.capacity)) {
    refuse("--permits", fmt::format("{} is not a number of permits: {}", leasehold::quoted(words), permits_form));
  }
  if (capacity && share.capacity && capacity != share.capacity) {
    refuse("--capacity", fmt::format("--permits has another capacity: {}", permits_form));
  }
  share.permits = *permits;
  if (capacity) share.capacity = capacity;
  if (!share.capacity) refuse("--permits", fmt::format("the capacity is missing: {}", permits_form));
  return share;
}

}  // namespace

void LockWords::gather() {
  names = more;
  names.insert(names.begin(), name);
}

void LockWords::settle() {
  if (shared && !permits.empty()) refuse("--shared", "a semaphore is always shared: remove --shared or --permits");
  if (permits.empty() && capacity) refuse("--capacity", fmt::format("--permits is missing: {}", permits_form));
  if (!permits.empty()) acquire.share = read_permits(permits, capacity);
  if (shared) acquire.share = Share{};
  if (acquire.share && names.size() > 1) {
    refuse(shared ? "--shared" : "--permits", "several locks cannot be shared: name one");
  }
}

std::string LockWords::joined_names() const { return names_text(names); }

std::string LockWords::share() const {
  if (!acquire.share) return "";
  const auto& share = *acquire.share;
  return share.capacity ? fmt::format("{} of {} permits", share.permits, *share.capacity) : "shared";
}

void add_lock_words(CLI::App& command, LockWords& words) {
  add_lock_name(command, words.name);
  command.add_option("MORE", words.more, "More locks, acquired in the same step: all or none, under one token")
      ->type_name("");
  add_duration(
      command, "--ttl", words.acquire.ttl,
      fmt::format("How long the lease lasts without a heartbeat (default {})", format_duration(words.acquire.ttl)));
  add_duration(command, "--wait", words.acquire.wait,
               "Wait up to this long in line while it is held (default: no wait)");
  command.add_flag("--shared", words.shared, "Share it with other --shared holders; excludes only exclusive ones");
  command
      .add_option("--permits", words.permits,
                  "Acquire N of M permits, as 2/8: a semaphore. All current holders use the same capacity")
      ->check(not_empty)
      ->type_name("N/M");
  command.add_option("--capacity", words.capacity, "The M, if --permits is only N")->type_name("M");
  add_lock_delay(command, words.acquire.lock_delay);
  add_holder(command, words.holder);
  add_conflict_exit_code(command, words.held_code);
}

void add_held_lock(CLI::App& command, Context& context, HeldLock& lock) {
  add_lock_name(command, lock.name)->envname(held::lock.key_variable);
  add_held_token(command, context, lock.token, held::lock, [&lock] { return is_own_lock(lock.name); });
}

CLI::Option* add_lock_delay(CLI::App& command, Duration& delay) {
  return add_duration(
      command, "--lock-delay", delay,
      "Keep it blocked for this long after it expires or is revoked, not after a release (default: 0s)");
}

}  // namespace leasehold::cli
