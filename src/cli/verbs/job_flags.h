#pragma once

#include "base/time.h"

#include <string>

namespace codeflare::cli {

// Options of every verb for jobs.
struct JobFlags {
  std::string name;
  std::string cluster;  // empty: the only one of the namespace
  std::string address;  // of the dashboard; empty: by the API server
  // Of a wait (zero: none), or for a dashboard that does not answer (zero: the usual).
  Duration timeout{};
  bool watch = false;  // of `status` and `list`
};

}  // namespace codeflare::cli
