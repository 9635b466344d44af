#pragma once

namespace codeflare::node::internal {

// Kills every process that descends from this one, until there is none; those that are our own
// children are left to be reaped by whoever waits for them. For a subreaper: orphans come back to
// it, so none escapes.
void kill_descendants();

}  // namespace codeflare::node::internal
