#include "base/digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/random.h>
#include <array>
#include <chrono>
#include <cstdint>

namespace leasehold {
namespace {

std::uint64_t random_number() {
  std::uint64_t number = 0;
  // getrandom() never returns fewer bytes for a request this small, and never blocks after boot.
  [[maybe_unused]] const auto got = getrandom(&number, sizeof number, 0);
  return number;
}

}  // namespace

std::string random_hex() { return fmt::format("{:016x}", random_number()); }

std::string random_request_id() {
  const auto micros = std::chrono::system_clock::now().time_since_epoch() / std::chrono::microseconds(1);
  return fmt::format("{:013x}-{:016x}", micros, random_number());
}

Result<std::string> sha256_hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1) {
    return Error{.code = Errc::internal, .message = "libcrypto cannot compute SHA-256 on this machine"};
  }
  std::string hex;
  hex.reserve(std::size_t{2} * length);
  for (unsigned i = 0; i < length; ++i) {
    hex += digits[digest[i] >> 4];
    hex += digits[digest[i] & 0x0F];
  }
  return hex;
}

}  // namespace leasehold
