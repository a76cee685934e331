// The meaning of every key of an answer, and of every error code. A key has one meaning everywhere; a field that needs
// more words says them in its description (Field::means).
#pragma once

#include <string_view>

#include "model/field.h"

namespace leasehold::model {

/// For documentation; empty for a key that has none, which a test refuses.
std::string_view meaning_of(const Field& field);

/// The same of an argument.
std::string_view meaning_of_argument(const Field& field);

std::string_view meaning_of(Errc code);

}  // namespace leasehold::model
