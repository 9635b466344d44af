#pragma once

#include "apiserver/server/api_server.h"

#include <string>

namespace CLI {
class App;
}

namespace codeflare {

// `--durability full|relaxed|memory`.
void add_durability(CLI::App& role, apiserver::Durability& durability, const std::string& about);

}  // namespace codeflare
