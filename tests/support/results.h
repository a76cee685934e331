// Checks of a Result, which print the error's own words if they fail.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "leasehold/result.h"

namespace leasehold::support {

inline std::string describe(const Error& error) {
  std::string text = std::string(to_string(error.code)) + ": " + error.message;
  if (error.lost_reason) text += std::string(" [") + to_string(*error.lost_reason) + "]";
  return text;
}

template <typename T>
::testing::AssertionResult ok(const Result<T>& result) {
  if (result.ok()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << describe(result.error());
}

template <typename T>
::testing::AssertionResult fails(const Result<T>& result, Errc code) {
  if (result.ok()) return ::testing::AssertionFailure() << "it went well instead of " << to_string(code);
  if (result.error().code == code) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "not " << to_string(code) << " but " << describe(result.error());
}

template <typename T>
::testing::AssertionResult lost(const Result<T>& result, LostReason why) {
  const auto code = fails(result, Errc::lost);
  if (!code) return code;
  if (result.error().lost_reason == why) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "not " << to_string(why) << " but " << describe(result.error());
}

/// Empty where there is no holder.
inline std::string name_of(const std::optional<Holder>& holder) { return holder ? holder->name : ""; }
inline std::string host_of(const std::optional<Holder>& holder) { return holder ? holder->host : ""; }

}  // namespace leasehold::support
