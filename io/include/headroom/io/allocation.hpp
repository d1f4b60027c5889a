#pragma once

namespace headroom::io {

// Memory that cannot be had. Libraries in between may take a failed allocation for a fault of the text that they read, or leave
// something out: an answer that was made after one is none.

/// Ends the program by one constant line and exit code 1 wherever a failed allocation is not caught, in threads and before
/// `main` too, and counts failed allocations from now on.
void watch_allocations();
/// Whether an allocation failed since the watch began.
bool allocation_failed();
/// Writes the line to standard error without allocating anything; returns 1.
int say_out_of_memory();

} // namespace headroom::io
