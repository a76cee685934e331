#include "cli/display_width.h"

#include <clocale>
#include <cwchar>

namespace leasehold::cli {
namespace {

/// The C library knows the width of every character, but only in a locale that has them all; ours is "C", so that
/// numbers are written the same everywhere. Restored when this goes.
class WithUnicode {
 public:
  WithUnicode() : before_(::uselocale(unicode())) {}
  WithUnicode(const WithUnicode&) = delete;
  WithUnicode& operator=(const WithUnicode&) = delete;
  ~WithUnicode() { ::uselocale(before_); }

 private:
  /// Null where the system has none: then uselocale changes nothing.
  static locale_t unicode() {
    static const locale_t locale = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return locale;
  }

  locale_t before_;
};

}  // namespace

DisplayedCharacter first_character(std::string_view text) {
  if (static_cast<unsigned char>(text.front()) < 0x80U) return {};
  const WithUnicode locale;
  wchar_t character = 0;
  std::mbstate_t state{};
  const auto bytes = std::mbrtowc(&character, text.data(), text.size(), &state);
  // Broken, or cut off in the middle: mbrtowc says so with numbers greater than any size.
  if (bytes == 0 || bytes > text.size()) return {};
  const int columns = ::wcwidth(character);
  return {.bytes = bytes, .columns = columns < 0 ? 1 : static_cast<std::size_t>(columns)};
}

}  // namespace leasehold::cli
