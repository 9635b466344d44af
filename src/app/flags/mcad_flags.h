#pragma once

#include "base/log.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace codeflare {

// MCAD's command lines and its environment are taken as they are. Options of it that have no
// meaning for us are kept here: the log says which do not count, and why.
struct McadFlags {
  std::vector<std::string> values;  // as given, in the order of the table; empty: not given
};

// After the options that MCAD had too: these get the names of its variables.
void add_mcad_flags(CLI::App& role, McadFlags& flags);
void tell_mcad_flags(const McadFlags& flags, Logger logger);

}  // namespace codeflare
