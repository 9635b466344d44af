#include "app/apiserver_role.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <cstdio>

namespace {

// What scripts may rely on: 0 done, 1 failed, 2 the command line itself was wrong.
constexpr int kUsageError = 2;

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("codeflare: AI work on Kubernetes, queued, placed as a whole and explained");
  app.name("codeflare");
  app.set_version_flag("--version", "codeflare " CODEFLARE_VERSION);
  app.require_subcommand(0, 1);
  codeflare::Role role;
  codeflare::add_apiserver_role(app, role);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  if (role) {
    return role();
  }
  std::fputs(app.help().c_str(), stdout);
  return 0;
}
