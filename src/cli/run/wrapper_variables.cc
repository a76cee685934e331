#include "cli/run/wrapper_variables.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "base/text.h"
#include "cli/bind/chunk_options.h"
#include "cli/command.h"
#include "cli/run/wrapped_command.h"

namespace leasehold::cli {
namespace {

constexpr const char* common_token = "LEASEHOLD_TOKEN";
constexpr std::array kinds{&held::job, &held::lock, &held::chunk, &held::schedule, &held::session, &held::row};

/// The kind of the wrapper that has set LEASEHOLD_TOKEN; nullptr: the user has set it.
const HeldKind* owner_of_common_token() {
  const auto token = environment_value(common_token);
  const auto* owner = std::find_if(kinds.begin(), kinds.end(), [&](const HeldKind* kind) {
    return token && environment_value(kind->token_variable) == token;
  });
  return owner != kinds.end() ? *owner : nullptr;
}

std::optional<Token> token_in(const char* variable) {
  const auto text = environment_value(variable);
  return text ? token_from(*text) : std::nullopt;
}

std::optional<Token> token_set_by_user() {
  return owner_of_common_token() == nullptr ? token_in(common_token) : std::nullopt;
}

[[noreturn]] void refuse_missing_token(const std::string& own_variable) {
  const auto* owner = owner_of_common_token();
  const auto reason =
      owner != nullptr ? fmt::format(" ({} is the token of the enclosing {})", common_token, owner->what) : "";
  throw CLI::ValidationError("--token", fmt::format("missing{}: write it, or set {}", reason,
                                                    own_variable.empty() ? common_token : own_variable));
}

/// --token as an option; `resolve` provides the token if it is not given.
CLI::Option* add_token_option(CLI::App& command, Context& context, Token& token, const std::string& variables,
                              std::function<Token()> resolve) {
  const auto take = [&token](const std::string& text) {
    const auto read = token_from(text);
    if (!read) {
      throw CLI::ValidationError(
          "--token", leasehold::quoted(text) + " is not a token: write the number that acquire or claim returned");
    }
    token = *read;
  };
  auto* option = command.add_option_function<std::string>(
      "--token", take, fmt::format("The token of the grant (required; else from {})", variables));
  option->type_name("TOKEN");
  after_parsing(command, context, [option, &token, resolve = std::move(resolve)] {
    if (option->count() == 0) token = resolve();
  });
  return option;
}

}  // namespace

std::vector<std::string> wrapper_variables(const HeldKind& kind, const HeldThing& thing) {
  const auto url = with_absolute_path(thing.url);
  return {
      fmt::format("LEASEHOLD_KEY={}", thing.key),
      fmt::format("{}={}", common_token, thing.token.value),
      fmt::format("LEASEHOLD_EXPIRES_AT={}", to_string(thing.expires_at)),
      fmt::format("LEASEHOLD_DB={}", url),
      fmt::format("{}={}", kind.key_variable, thing.key),
      fmt::format("{}={}", kind.token_variable, thing.token.value),
      fmt::format("{}={}", kind.store_variable, url),
  };
}

std::optional<std::string> environment_value(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr && *text != '\0' ? std::optional<std::string>(text) : std::nullopt;
}

bool environment_says(const char* name, const std::string& value) { return environment_value(name) == value; }

std::optional<Token> token_from_environment(const HeldKind& kind, bool is_own) {
  // A token set by hand without a key applies to the name on the command line.
  const bool meant = is_own || !environment_value(kind.key_variable);
  const auto own = meant ? token_in(kind.token_variable) : std::nullopt;
  return own ? own : token_set_by_user();
}

void act_where_held(Context& context, const HeldKind& kind) {
  const auto url = environment_value(kind.store_variable);
  if (context.db.empty() && url) context.db = *url;
}

CLI::Option* add_held_token(CLI::App& command, Context& context, Token& token, const HeldKind& kind,
                            std::function<bool()> is_own) {
  return add_token_option(command, context, token, fmt::format("{} or {}", kind.token_variable, common_token),
                          [&context, &kind, is_own = std::move(is_own)] {
                            const bool own = is_own();
                            const auto found = token_from_environment(kind, own);
                            if (!found) refuse_missing_token(kind.token_variable);
                            if (own && found == token_in(kind.token_variable)) act_where_held(context, kind);
                            return *found;
                          });
}

CLI::Option* add_claim_token(CLI::App& command, Context& context, Token& token) {
  return add_token_option(command, context, token, common_token, [] {
    const auto found = token_set_by_user();
    if (!found) refuse_missing_token("");
    return *found;
  });
}

namespace {

constexpr const char* instances_variable = "LEASEHOLD_INSTANCES";

constexpr const char* names_variable = "LEASEHOLD_KEYS";

/// The lines of an environment variable.
std::vector<std::string> lines_of(const char* variable) {
  std::vector<std::string> all;
  std::istringstream lines(environment_value(variable).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) all.push_back(line);
  }
  return all;
}

/// All holders that this process runs inside of, the outermost first.
std::vector<std::string> outer_instances() { return lines_of(instances_variable); }

Error reentry(LockHolder outer) {
  // As in every refusal: the holder without its token.
  outer.token = {};
  outer.holder.instance.clear();
  return {
      .code = Errc::reentry,
      .message = fmt::format("lock {} is held by a command that this one runs inside ({}): it would wait for itself",
                             leasehold::quoted(outer.key), outer.holder.name),
      .held_by = std::move(outer)};
}

/// These shares leave no room for another one: they are released only after it.
bool no_room_beside(std::int64_t permits_outside, const Share& share) {
  return share.capacity && permits_outside + share.permits > *share.capacity;
}

Result<void> check_one(const Locks& locks, const std::string& name, const std::optional<Share>& share,
                       const std::vector<std::string>& outer) {
  const auto holders = locks.holders(name);
  // The acquire reports problems with the store or the name better.
  if (!holders) return {};
  std::int64_t permits = 0;
  for (const auto& holder : *holders) {
    const bool is_outer = std::find(outer.begin(), outer.end(), holder.holder.instance) != outer.end();
    if (!is_outer || holder.state != LeaseState::running) continue;
    permits += holder.permits.value_or(0);
    if (!share || !holder.permits || no_room_beside(permits, *share)) return reentry(holder);
  }
  return {};
}

}  // namespace

std::vector<std::string> lock_environment(const Grant& grant, const std::vector<std::string>& names,
                                          const std::string& url) {
  auto instances = outer_instances();
  instances.push_back(grant.holder.instance);
  auto environment = wrapper_variables(
      held::lock, {.key = names.front(), .token = grant.token, .expires_at = grant.expires_at, .url = url});
  environment.push_back(fmt::format("LEASEHOLD_INSTANCE={}", grant.holder.instance));
  environment.push_back(fmt::format("{}={}", instances_variable, fmt::join(instances, "\n")));
  // Set for a single lock, too: an outer wrapper may have set it to other names.
  environment.push_back(fmt::format("{}={}", names_variable, fmt::join(names, "\n")));
  return environment;
}

bool is_own_lock(const std::string& name) {
  const auto names = lines_of(names_variable);
  return environment_says(held::lock.key_variable, name) || std::find(names.begin(), names.end(), name) != names.end();
}

Result<void> check_reentry(const Locks& locks, const std::vector<std::string>& names,
                           const std::optional<Share>& share) {
  const auto outer = outer_instances();
  if (outer.empty()) return {};
  for (const auto& name : names) {
    if (auto checked = check_one(locks, name, share, outer); !checked) return checked;
  }
  return {};
}

}  // namespace leasehold::cli
