#pragma once

#include <array>
#include <functional>
#include <string_view>

namespace CLI {
class App;
}

namespace codeflare::cli {

// Runs what was typed and returns the exit code.
using Chosen = std::function<int()>;

// A row of the table of verbs: a verb by itself (`codeflare queue`), or a verb with one of its
// nouns
// (`codeflare create raycluster`), which has options, help and work of its own.
struct Verb {
  std::string_view word;
  std::string_view noun{};  // Noun::name; empty: the verb by itself
  std::string_view about;
  std::string_view examples;  // lines of its help, indented by two blanks from the second on
  // Adds the options. When the command was typed and they are good, sets `chosen`. Null: the verb
  // does nothing without a noun.
  void (*add)(CLI::App& command, Chosen& chosen) = nullptr;
  // Its first word is the KIND of an object, which may be written KIND/NAME.
  bool takes_kind = false;
};

// The object that a verb is about. People may type any of its names.
struct Noun {
  std::string_view name;
  std::array<std::string_view, 3> aliases{};
};

}  // namespace codeflare::cli
