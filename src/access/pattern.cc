// Patterns of API tokens: what a token may touch, and the texts of secrets.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>

#include <algorithm>
#include <array>

#include "access/access.h"
#include "base/text.h"
#include "model/bounds.h"

namespace leasehold {
namespace {

constexpr std::string_view everything = "*";

/// Each "*" stands for any characters. Greedy with one step back: linear for patterns with one "*".
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t at = 0;
  std::size_t in_text = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (in_text < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      resume = in_text;
    } else if (at < pattern.size() && pattern[at] == text[in_text]) {
      ++at;
      ++in_text;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      in_text = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

/// The pattern's kind, and the name behind the colon; no kind if there is no colon.
struct Split {
  std::string_view kind;
  std::string_view name;
};

Split split(std::string_view pattern) {
  const auto colon = pattern.find(':');
  if (colon == std::string_view::npos) return {"", pattern};
  return {pattern.substr(0, colon), pattern.substr(colon + 1)};
}

bool allows(std::string_view pattern, std::string_view kind, std::string_view name) {
  if (pattern == everything) return true;
  const auto [its_kind, its_name] = split(pattern);
  if (its_kind.empty() || its_kind != kind) return false;
  if (name.empty()) return its_name == everything;
  return matches(its_name, name);
}

}  // namespace

bool may_touch(std::span<const std::string> only, std::string_view kind, std::string_view name) {
  if (only.empty()) return true;
  return std::any_of(only.begin(), only.end(), [&](const auto& pattern) { return allows(pattern, kind, name); });
}

namespace access {
namespace {

constexpr std::string_view letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

}  // namespace

std::string new_secret() {
  std::string secret(secret_prefix);
  while (secret.size() < secret_prefix.size() + secret_letters) {
    std::array<unsigned char, 64> bytes{};
    // getrandom() never returns fewer bytes for a request this small, and never blocks after boot.
    [[maybe_unused]] const auto got = getrandom(bytes.data(), bytes.size(), 0);
    for (const auto byte : bytes) {
      // Six bits; the two values without a letter are drawn again, so each letter is equally likely.
      const std::size_t value = byte & 0x3FU;
      if (value < letters.size() && secret.size() < secret_prefix.size() + secret_letters) secret += letters[value];
    }
  }
  return secret;
}

bool is_secret(std::string_view text) {
  return text.size() == secret_prefix.size() + secret_letters && text.starts_with(secret_prefix) &&
         text.find_first_not_of(letters, secret_prefix.size()) == std::string_view::npos;
}

Result<void> check_pattern(std::string_view pattern) {
  if (pattern == everything) return {};
  const auto [kind, name] = split(pattern);
  const bool known = std::find(std::begin(pattern_kinds), std::end(pattern_kinds), kind) != std::end(pattern_kinds);
  if (!known || name.empty()) {
    return invalid(
        fmt::format("{} is not a pattern: write \"*\", or a kind and a name such as \"queue:mail*\"; the "
                    "kinds are {}",
                    quoted(pattern), fmt::join(pattern_kinds, ", ")));
  }
  return check_name("pattern", pattern);
}

}  // namespace access
}  // namespace leasehold
