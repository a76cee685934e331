#include "base/sha256.h"

#include <openssl/evp.h>

#include <array>

namespace leasehold {

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
