// From the store's answers about sessions, items and claims to what a caller gets.
#pragma once

#include <string>
#include <string_view>

#include "lease/answer.h"
#include "leasehold/claim.h"
#include "leasehold/result.h"
#include "storage/statements.h"

namespace leasehold::session {

using lease::odd_answer;

/// "session \"s-81f\""
std::string describe_session(std::string_view id);
/// "item \"SD-1\""
std::string describe_item(std::string_view key);

Error no_such_session(std::string_view id);
Error no_such_item(std::string_view key);

/// Whatever an act on a session is refused with.
Error session_refusal(const sql::LeaseAnswer& answer, std::string_view id);

/// Whatever an act on an item is refused with. `item` is the one that was asked for; `session` is who asked, where the
/// caller said.
Error claim_refusal(const sql::ClaimAnswer& answer, std::string_view item, std::string_view session = {});

/// The claim that was granted, or why not.
Result<Claim> claim_from(Result<sql::ClaimAnswer> answer, std::string_view item, std::string_view session = {});

}  // namespace leasehold::session
