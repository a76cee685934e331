// What the commands about rate limits share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/context.h"
#include "leasehold/limit.h"

namespace leasehold::cli {

constexpr int max_burst = 1'000'000;

CLI::Option* add_limit_name(CLI::App& command, std::string& name);

/// Prints it, or why there is none; gives the exit code.
int print_limit(const Context& context, const Result<LimitInfo>& limit);

}  // namespace leasehold::cli
