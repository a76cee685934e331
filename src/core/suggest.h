// "Did you mean ...?"
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace leasehold {

/// The candidate that is at most a third of the word's letters away; empty if none is.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace leasehold
