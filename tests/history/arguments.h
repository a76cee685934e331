// The arguments of the two tools: `--name value` and `--flag`, and what is left.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace leasehold::history {

class Arguments {
 public:
  /// Throws std::invalid_argument with what is wrong with the value.
  using Take = std::function<void(const std::string& value)>;

  Arguments& value(const std::string& name, Take take);
  Arguments& flag(const std::string& name, bool& into);

  /// Gives what is not an option. Throws std::invalid_argument with what is wrong.
  std::vector<std::string> parse(int count, char** texts) const;

 private:
  std::map<std::string, Take> values_;
  std::map<std::string, bool*> flags_;
};

/// A whole number from `lowest` on; throws std::invalid_argument.
long long whole_number(const std::string& text, long long lowest);

}  // namespace leasehold::history
