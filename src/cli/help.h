// What --help prints, the same way for every command.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace leasehold::cli {

std::string help_page(const CLI::App& app);

}  // namespace leasehold::cli
