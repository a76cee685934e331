// A command line that was not understood: what is wrong with it, what was meant, where help is.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::cli {

/// The command that the line got to before it went wrong.
const CLI::App& deepest_command(const CLI::App& root);

/// One line: "unknown option '--tl': did you mean --ttl? (see leasehold lock acquire --help)".
std::string explain(const CLI::App& root, const CLI::ParseError& error);

/// The same for a line that the parser has understood otherwise than it was written: it takes lists in brackets apart,
/// drops ++, and takes the next word for the value that is missing behind --option=. Nothing where there is none of it.
std::optional<std::string> explain_misread(const CLI::App& root, const std::vector<std::string>& words);

}  // namespace leasehold::cli
