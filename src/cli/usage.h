// A command line that was not understood: what is wrong with it, what was meant, where help is.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace leasehold::cli {

/// The command that the line got to before it went wrong.
const CLI::App& deepest_command(const CLI::App& root);

/// One line: "unknown option '--tl': did you mean --ttl? (see leasehold lock acquire --help)".
std::string explain(const CLI::App& root, const CLI::ParseError& error);

}  // namespace leasehold::cli
