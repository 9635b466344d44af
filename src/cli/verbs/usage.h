#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace codeflare::cli {

// The mistake in a command line, with the words that may be meant, and where the help is:
//   error: unknown option --wacth; did you mean --watch?
//   Run 'codeflare queue --help' for usage.
std::string usage_text(const CLI::App& app, const CLI::ParseError& error);

// The same for a word that is not a command of `app`.
std::string unknown_command_text(const CLI::App& app, const std::string& word);

}  // namespace codeflare::cli
