// The fingerprint of a chunk, the same on every machine and in PostgreSQL.
#include "base/digest.h"

#include <gtest/gtest.h>

#include "support/results.h"

namespace leasehold::support {
namespace {

TEST(Sha256, IsTheOneOfTheStandard) {
  const std::pair<std::string_view, std::string_view> known[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}};
  for (const auto& [bytes, digits] : known) {
    const auto hash = sha256_hex(bytes);
    ASSERT_TRUE(ok(hash));
    EXPECT_EQ(*hash, digits) << bytes;
  }
}

}  // namespace
}  // namespace leasehold::support
