// Short lists as a store keeps them: a JSON array of texts or of integers in one column.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold {

std::string json_from_texts(const std::vector<std::string>& texts);

/// Reads what our own statements make; of anything else, as much as makes sense.
std::vector<std::string> texts_from_json(std::string_view array);
std::vector<std::int64_t> integers_from_json(std::string_view array);

}  // namespace leasehold
