// Who may read from the terminal: job control for a command in a process group of its own.
#pragma once

#include <sys/types.h>

namespace leasehold::run {

/// Whether standard input is a terminal whose foreground is `group`.
bool has_foreground(pid_t group);

/// Makes `group` the foreground of the terminal on standard input, also from the background.
void give_foreground(pid_t group);

}  // namespace leasehold::run
