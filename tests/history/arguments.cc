#include "history/arguments.h"

#include <charconv>
#include <stdexcept>

namespace leasehold::history {

Arguments& Arguments::value(const std::string& name, Take take) {
  values_[name] = std::move(take);
  return *this;
}

Arguments& Arguments::flag(const std::string& name, bool& into) {
  flags_[name] = &into;
  return *this;
}

std::vector<std::string> Arguments::parse(int count, char** texts) const {
  std::vector<std::string> rest;
  for (int i = 1; i < count; ++i) {
    const std::string text = texts[i];
    if (const auto flag = flags_.find(text); flag != flags_.end()) {
      *flag->second = true;
    } else if (const auto value = values_.find(text); value != values_.end()) {
      if (++i == count) throw std::invalid_argument(text + " needs a value");
      value->second(texts[i]);
    } else if (text.starts_with("-")) {
      throw std::invalid_argument("there is no option " + text);
    } else {
      rest.push_back(text);
    }
  }
  return rest;
}

long long whole_number(const std::string& text, long long lowest) {
  long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < lowest) {
    throw std::invalid_argument(text + " is not a whole number from " + std::to_string(lowest) + " on");
  }
  return number;
}

}  // namespace leasehold::history
