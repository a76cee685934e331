// Commands that go on until somebody interrupts them, and then still say a word.
#pragma once

namespace leasehold::cli {

/// From now on SIGINT and SIGTERM only set what stop_signal() tells.
void stop_on_signals();

/// The signal that came; 0: none.
int stop_signal();

}  // namespace leasehold::cli
