#include "app/apiserver_role.h"
#include "app/checkpointd_role.h"
#include "app/code_role.h"
#include "app/controller_role.h"
#include "app/flags/edition.h"
#include "app/node_role.h"
#include "app/proxy_role.h"
#include "app/up_role.h"
#include "cli/session/console.h"
#include "cli/verbs/completion.h"
#include "cli/verbs/usage.h"
#include "cli/verbs/verb_table.h"
#include "elastic/agent_program.h"
#include "node/holder/network_proxy.h"
#include "node/holder/node_holder.h"
#include "node/keeper/pod_keeper.h"
#include "s3/data_program.h"

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

constexpr int kUsageError = codeflare::cli::kUsage;

// "codeflare 0.1.0 (community edition)"
std::string version_text() {
  return "codeflare " CODEFLARE_VERSION " (" + std::string(codeflare::edition().name) + " edition)";
}

int usage_error(const CLI::App& app, const CLI::ParseError& error) {
  std::fputs(codeflare::cli::usage_text(app, error).c_str(), stderr);
  return kUsageError;
}

// The output of `codeflare VERB --help`.
int help_of(const CLI::App& app, const std::vector<std::string>& verbs) {
  const CLI::App* at = &app;
  std::string words;
  for (const std::string& verb : verbs) {
    const auto known =
        at->get_subcommands([&](const CLI::App* one) { return one->check_name(verb); });
    if (known.empty()) {
      std::fputs(codeflare::cli::unknown_command_text(*at, verb).c_str(), stderr);
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
  // Installed into a pod under the agent's name (`codeflare agent --install`).
  if (argc > 0 && std::string_view(argv[0]).ends_with("/codeflare-agent")) {
    return codeflare::elastic::agent_program(argc - 1, argv + 1, "codeflare-agent");
  }
  // The program itself starts these, one keeper per pod and one holder of their network: before
  // anything that they do not need.
  if (argc > 1 && std::string_view(argv[1]) == "agent") {
    return codeflare::elastic::agent_program(argc - 2, argv + 2, "codeflare agent");
  }
  if (argc > 1 && std::string_view(argv[1]) == "pod-keeper") {
    return codeflare::node::pod_keeper_main(argc - 2, argv + 2);
  }
  if (argc > 1 && std::string_view(argv[1]) == "node-holder") {
    return codeflare::node::node_holder_main(argc - 2, argv + 2);
  }
  if (argc > 1 && std::string_view(argv[1]) == "node-egress") {
    return codeflare::node::node_egress_main(argc - 2, argv + 2);
  }
  if (argc > 1 && std::string_view(argv[1]) == "data") {
    return codeflare::s3::data_program(argc - 2, argv + 2);
  }
  if (argc > 1 && std::string_view(argv[1]) == "code") {
    return codeflare::code_main(argc - 2, argv + 2);
  }
  CLI::App app(
      "codeflare queues and runs AI jobs on Kubernetes. A job starts when all of its pods fit.");
  app.name("codeflare");
  app.set_version_flag("--version", version_text());
  app.require_subcommand(0, 1);
  codeflare::Role role;
  const codeflare::cli::VerbTable table = codeflare::cli::verb_table();
  // The script of `codeflare completion` asks for the words that may follow.
  const bool complete = argc > 1 && argv[1] == codeflare::cli::kCompleteWord;
  std::vector<std::string> words(argv + (complete ? 2 : 1), argv + argc);
  std::string begun;  // the word that is being typed
  if (complete && !words.empty()) {
    begun = std::move(words.back());
    words.pop_back();
  }
  words = codeflare::cli::in_order(table, std::move(words));
  codeflare::cli::add_verbs(app, table, words, role);
  codeflare::add_up_role(app, role);
  codeflare::add_node_role(app, role);
  codeflare::add_apiserver_role(app, role);
  codeflare::add_proxy_role(app, role);
  codeflare::add_controller_role(app, role);
  codeflare::add_checkpointd_role(app, role);
  CLI::App* help = app.add_subcommand("help", "Print the help of the program or of a command");
  std::vector<std::string> verbs;
  help->add_option("VERB", verbs, "command, such as: up, or image add");
  const CLI::App* version = app.add_subcommand("version", "Print the version");
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) {  // an empty group hides a command
      command->group(std::string(codeflare::cli::help_group(command->get_name())));
    }
  }
  if (complete) {
    words.push_back(std::move(begun));
    return codeflare::cli::run_complete(app, table, std::move(words));
  }
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
    std::puts(version_text().c_str());
    return 0;
  }
  if (verbs.empty()) {
    std::fputs(help_text.c_str(), stdout);
    return 0;
  }
  return help_of(app, verbs);
}
