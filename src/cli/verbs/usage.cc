#include "cli/verbs/usage.h"

#include "base/close_words.h"
#include "cli/verbs/verb_table.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <vector>

namespace codeflare::cli {

namespace {

using Words = std::vector<std::string>;

// The command that was typed as far as it was understood.
const CLI::App& deepest(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
  }
  return *at;
}

// "codeflare image add".
std::string words_of(const CLI::App& app) {
  std::string words = app.get_name();
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    words += " " + at->get_name();
  }
  return words;
}

Words commands_of(const CLI::App& app) {
  Words names;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(each->get_name());
  }
  return names;
}

Words options_of(const CLI::App& app) {
  Words names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

// Nouns of a verb.
Words nouns_of(std::string_view verb) {
  Words names;
  for (const Verb* row : verb_table().verbs) {
    if (row->word == verb && !row->noun.empty()) {
      names.emplace_back(row->noun);
    }
  }
  return names;
}

std::string unknown_word(const CLI::App& app, const std::string& word) {
  const CLI::App& at = deepest(app);
  if (word.starts_with('-')) {
    const std::string name = word.substr(0, word.find('='));
    return "unknown option " + name + did_you_mean(name, options_of(at));
  }
  const Words commands = commands_of(at);
  if (commands.empty()) {
    return "unexpected argument " + word + did_you_mean(word, nouns_of(at.get_name()));
  }
  return "unknown command " + word + did_you_mean(word, commands);
}

std::string advice(const std::string& words) {
  return "\nRun '" + words + " --help' for usage.\n";
}

}  // namespace

std::string usage_text(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = app.remaining(true);
  const int kind = error.get_exit_code();
  // A word that is not known goes first: it may be the missing one, misspelt.
  const bool misspelt =
      !unknown.empty() && (kind == static_cast<int>(CLI::ExitCodes::RequiredError) ||
                           kind == static_cast<int>(CLI::ExitCodes::ExtrasError));
  // "explian image": a misspelt verb stays with the program, though its object names another verb.
  const std::vector<std::string> own = app.remaining(false);
  if (misspelt && !own.empty() && !own.front().starts_with('-')) {
    return unknown_command_text(app, own.front());
  }
  return "error: " + (misspelt ? unknown_word(app, unknown.front()) : error.what()) +
         advice(words_of(app));
}

std::string unknown_command_text(const CLI::App& app, const std::string& word) {
  return "error: unknown command " + word + did_you_mean(word, commands_of(app)) +
         advice("codeflare");
}

}  // namespace codeflare::cli
