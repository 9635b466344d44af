#pragma once

#include "cli/verbs/verb.h"

#include <span>
#include <string>
#include <vector>

namespace codeflare::cli {

// All verbs in the order of the help, each before its nouns.
struct VerbTable {
  std::span<const Verb* const> verbs;
  std::span<const Noun> nouns;
};
VerbTable verb_table();

// The words of a command line as the parser expects them. Anything else stays as it is.
//   jobs submit x            submit job x: the verb before its noun, the noun by its name;
//   -n team queue --watch    queue --watch -n team: options before the verb;
//   logs aw/x, logs job/x    logs aw x, logs job x: KIND/NAME;
//   details x                details raycluster x: a verb with one noun needs none.
// "help" may stand before them.
std::vector<std::string> in_order(const VerbTable& table, std::vector<std::string> words);

// Adds the verbs to the program. `words` are in order, and those of the command line: a noun counts
// only right behind its verb, because anything may be called "job".
void add_verbs(CLI::App& app, const VerbTable& table, std::span<const std::string> words,
               Chosen& chosen);

// The heading of the help under which a command stands, roles included.
std::string_view help_group(std::string_view word);

}  // namespace codeflare::cli
