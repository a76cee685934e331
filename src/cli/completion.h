// One script per shell. All of them find the command by walking the words typed so far, then offer its
// subcommands, options and known values; after `--` they offer programs.
#pragma once

#include <string>
#include <vector>

#include "cli/tree.h"

namespace leasehold::cli {

std::string bash_completion(const std::vector<CommandText>& commands);
std::string zsh_completion(const std::vector<CommandText>& commands);
std::string fish_completion(const std::vector<CommandText>& commands);

}  // namespace leasehold::cli
