#include "app/apiserver_role.h"
#include "app/code_role.h"
#include "app/controller_role.h"
#include "app/node_role.h"
#include "app/proxy_role.h"
#include "app/up_role.h"
#include "cli/verbs/verb_table.h"
#include "node/holder/network_proxy.h"
#include "node/holder/node_holder.h"
#include "node/keeper/pod_keeper.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

// What scripts may rely on: 0 done, 1 failed, 2 the command line itself was wrong.
constexpr int kUsageError = 2;
constexpr const char* kVersion = "codeflare " CODEFLARE_VERSION;

// The words that led to the mistake: "codeflare image add".
std::string words_of(const CLI::App& app) {
  std::string words = app.get_name();
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    words += " " + at->get_name();
  }
  return words;
}

int usage_error(const CLI::App& app, const CLI::ParseError& error) {
  std::string what = error.what();
  const std::vector<std::string> unknown = app.remaining(true);
  const int kind = error.get_exit_code();
  // A word that is not known goes first: it may be the missing one, misspelt.
  if (!unknown.empty() && (kind == static_cast<int>(CLI::ExitCodes::RequiredError) ||
                           kind == static_cast<int>(CLI::ExitCodes::ExtrasError))) {
    what = "not expected:";
    for (const std::string& word : unknown) {
      what += " " + word;
    }
  }
  std::fprintf(stderr, "error: %s\n%s --help tells more.\n", what.c_str(), words_of(app).c_str());
  return kUsageError;
}

// What `codeflare VERB --help` prints.
int help_of(const CLI::App& app, const std::vector<std::string>& verbs) {
  const CLI::App* at = &app;
  std::string words;
  for (const std::string& verb : verbs) {
    const auto known =
        at->get_subcommands([&](const CLI::App* one) { return one->check_name(verb); });
    if (known.empty()) {
      std::fprintf(stderr, "error: not expected: %s\ncodeflare --help tells more.\n", verb.c_str());
      return kUsageError;
    }
    words += (words.empty() ? "" : " ") + at->get_name();
    at = known.front();
  }
  std::fputs(at->help(words).c_str(), stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // The program itself starts these, one keeper per pod and one holder of their network: before
  // anything that they do not need.
  if (argc > 1 && std::string_view(argv[1]) == "pod-keeper") {
    return codeflare::node::pod_keeper_main(argc - 2, argv + 2);
  }
  if (argc > 1 && std::string_view(argv[1]) == "node-holder") {
    return codeflare::node::node_holder_main(argc - 2, argv + 2);
  }
  if (argc > 1 && std::string_view(argv[1]) == "node-egress") {
    return codeflare::node::node_egress_main(argc - 2, argv + 2);
  }
  if (argc > 1 && std::string_view(argv[1]) == "code") {
    return codeflare::code_main(argc - 2, argv + 2);
  }
  CLI::App app("codeflare: AI work on Kubernetes, queued, placed as a whole and explained");
  app.name("codeflare");
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(0, 1);
  codeflare::Role role;
  codeflare::add_up_role(app, role);
  codeflare::add_node_role(app, role);
  codeflare::add_apiserver_role(app, role);
  codeflare::add_proxy_role(app, role);
  codeflare::add_controller_role(app, role);
  const codeflare::cli::VerbTable table = codeflare::cli::verb_table();
  std::vector<std::string> words =
      codeflare::cli::in_order(table, std::vector<std::string>(argv + 1, argv + argc));
  codeflare::cli::add_verbs(app, table, words, role);
  CLI::App* help = app.add_subcommand("help", "Print this help message, or that of a verb");
  std::vector<std::string> verbs;
  help->add_option("VERB", verbs, "whose help is wanted: up, or image add");
  const CLI::App* version = app.add_subcommand("version", "Print the version and exit");
  // Taken now: afterwards it would be the help of the sub-command that was given.
  const std::string help_text = app.help();
  try {
    std::ranges::reverse(words);  // as the parser wants them
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? app.exit(error) : usage_error(app, error);
  }
  if (role) {
    return role();
  }
  if (*version) {
    std::puts(kVersion);
    return 0;
  }
  if (verbs.empty()) {
    std::fputs(help_text.c_str(), stdout);
    return 0;
  }
  return help_of(app, verbs);
}
