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

// The words of a command line with a verb before its noun, in whichever order they were typed, and
// the noun by its name: "jobs submit x" becomes "submit job x". "help" may stand before them.
// Anything else stays as it is.
std::vector<std::string> in_order(const VerbTable& table, std::vector<std::string> words);

// Adds the verbs to the program. `words` are in order, and those of the command line: a noun counts
// only right behind its verb, because anything may be called "job".
void add_verbs(CLI::App& app, const VerbTable& table, std::span<const std::string> words,
               Chosen& chosen);

}  // namespace codeflare::cli
