#include "app/flags/durability_flag.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

namespace codeflare {

namespace {

using apiserver::Durability;

Durability durability_of(const std::string& word) {
  return word == "memory"    ? Durability::memory
         : word == "relaxed" ? Durability::relaxed
                             : Durability::full;
}

}  // namespace

void add_durability(CLI::App& role, Durability& durability, const std::string& about) {
  role.add_option_function<std::string>(
          "--durability",
          [&durability](const std::string& word) { durability = durability_of(word); }, about)
      ->transform(CLI::IsMember({"full", "relaxed", "memory"}, CLI::ignore_case).description(""))
      ->type_name("full|relaxed|memory")
      ->default_str("full");
}

}  // namespace codeflare
