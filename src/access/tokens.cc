// API tokens: create, list, revoke, find.
#include <fmt/format.h>

#include "access/access.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/text.h"
#include "lease/answer.h"
#include "lease/page.h"
#include "model/described.h"
#include "model/words.h"

namespace leasehold {
namespace {

template <typename Row>
TokenInfo token_from(Row& row) {
  return std::move(row).template as<TokenInfo>();
}

TokenInfo token_info_from(sql::ApiToken& row) { return token_from(row); }

Result<void> check_token(const NewToken& token) {
  if (auto checked = check_name("token name", token.name); !checked) return checked;
  if (auto checked = model::check_fields_of(token); !checked) return checked;
  for (const auto& pattern : token.only) {
    if (auto checked = access::check_pattern(pattern); !checked) return checked;
  }
  return {};
}

}  // namespace

Result<CreatedToken> Access::create_token(const NewToken& token) const {
  if (auto checked = check_token(token); !checked) return std::move(checked).error();
  auto secret = access::new_secret();
  const auto hash = sha256_hex(secret);
  if (!hash) return hash.error();
  const auto only = json_from_texts(token.only);
  const sql::TokenCreate statement{
      .name = token.name, .hash = *hash, .scope = word_of(token.scope), .only = only, .expires_in = token.expires_in};
  // The digest makes this call repeatable.
  auto answer = impl_->new_call().ask_again(statement);
  if (!answer) return std::move(answer).error();
  const auto created = answer->outcome.is(Reply::created);
  if (!created && !answer->outcome.is(Reply::exists)) {
    return lease::odd_answer("token " + quoted(token.name), answer->outcome.word());
  }
  auto info = token_from(*answer);
  if (created) return CreatedToken{.info = std::move(info), .secret = std::move(secret)};
  return invalid(
      fmt::format("token {} already exists: choose another name, or revoke {} first", quoted(token.name), info.id));
}

Result<Page<TokenInfo>> Access::tokens(const TokenFilter& filter) const {
  if (auto checked = model::check_fields_of(filter); !checked) return std::move(checked).error();
  auto after = lease::page_number(filter.page);
  if (!after) return std::move(after).error();
  sql::TokenList statement{.name = access::if_any(filter.name), .after_id = *after, .max = lease::rows_for(filter.max)};
  if (filter.state) statement.state = word_of(*filter.state);
  return lease::page_of(impl_->new_call().list(statement, token_info_from), filter.max, access::behind_last_id);
}

Result<TokenInfo> Access::revoke_token(std::int64_t id) const {
  auto rows = impl_->new_call().ask_rows_again(sql::TokenRevoke{.id = id});
  if (!rows) return std::move(rows).error();
  if (rows->empty()) return Error{.code = Errc::not_found, .message = fmt::format("token {} does not exist", id)};
  return token_from(rows->front());
}

Result<TokenInfo> Access::find_token(std::string_view secret) const {
  if (!access::is_secret(secret)) return access::not_authorized();
  const auto hash = sha256_hex(secret);
  if (!hash) return hash.error();
  auto rows = impl_->new_call().ask_rows(sql::TokenFind{.hash = *hash});
  if (!rows) return std::move(rows).error();
  if (rows->empty()) return access::not_authorized();
  auto token = token_from(rows->front());
  if (token.state != TokenState::active) return access::not_authorized();
  const auto noted = token.last_used_at;
  if (!noted || token.store_now - *noted >= defaults::token_use_pause) {
    // If the store cannot record the use, the caller still gets in.
    if (impl_->new_call().ask(sql::TokenUse{.id = token.id})) token.last_used_at = token.store_now;
  }
  return token;
}

Result<bool> Access::has_tokens() const {
  auto answer = impl_->new_call().ask(sql::TokenAny{});
  if (!answer) return std::move(answer).error();
  return answer->any;
}

}  // namespace leasehold
