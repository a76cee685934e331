// Marks what the shared library shows; everything else is built with hidden visibility.
#pragma once

#define LEASEHOLD_EXPORT __attribute__((visibility("default")))
