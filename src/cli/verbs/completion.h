#pragma once

#include "cli/verbs/verb.h"
#include "cli/verbs/verb_table.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace codeflare::cli {

extern const Verb kCompletion;

// Before the words of a command line, the last of which may be a part of one: the program then
// prints what may stand there, a word on a line. For the scripts of `codeflare completion`.
inline constexpr std::string_view kCompleteWord = "__complete";

// Whose names may follow; the server or the kubeconfig knows them.
enum class NamesOf : std::uint8_t {
  nothing,
  app_wrappers,
  ray_clusters,
  training_jobs,
  namespaces,
  contexts
};

struct Completions {
  std::vector<std::string> words;
  NamesOf names = NamesOf::nothing;
};
// The possible endings of `words`, which are in order but for the last one; that may be empty.
Completions complete(const CLI::App& app, const VerbTable& table,
                     const std::vector<std::string>& words);

// The same with the names of objects, printed. A server that does not answer within two seconds has
// none. Always 0: a shell shows no errors here.
int run_complete(const CLI::App& app, const VerbTable& table, std::vector<std::string> words);

// The output of `codeflare completion SHELL`; empty: the shell is not known.
std::string_view completion_script(std::string_view shell);

}  // namespace codeflare::cli
