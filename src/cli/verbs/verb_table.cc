#include "cli/verbs/verb_table.h"

#include "cli/verbs/create.h"
#include "cli/verbs/create_raycluster.h"
#include "cli/verbs/define_raycluster.h"
#include "cli/verbs/delete.h"
#include "cli/verbs/delete_raycluster.h"
#include "cli/verbs/down.h"
#include "cli/verbs/end_job.h"
#include "cli/verbs/explain.h"
#include "cli/verbs/follow_job.h"
#include "cli/verbs/hold.h"
#include "cli/verbs/image.h"
#include "cli/verbs/list.h"
#include "cli/verbs/login.h"
#include "cli/verbs/logs.h"
#include "cli/verbs/queue.h"
#include "cli/verbs/queued_raycluster.h"
#include "cli/verbs/run.h"
#include "cli/verbs/show_job.h"
#include "cli/verbs/show_raycluster.h"
#include "cli/verbs/simulate.h"
#include "cli/verbs/status.h"
#include "cli/verbs/submit_job.h"
#include "cli/verbs/wait_raycluster.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace codeflare::cli {

namespace {

constexpr const Verb* kVerbs[] = {
    &kLogin,
    &kLogout,
    &kRun,
    &kDefine,
    &kDefineRayCluster,
    &kCreate,
    &kCreateRayCluster,
    &kCreateJob,
    &kSubmit,
    &kSubmitRayCluster,
    &kSubmitJob,
    &kCancel,
    &kCancelJob,
    &kDelete,
    &kDeleteRayCluster,
    &kDeleteJob,
    &kList,
    &kListRayCluster,
    &kListJob,
    &kGet,
    &kGetRayCluster,
    &kStatus,
    &kStatusRayCluster,
    &kStatusJob,
    &kDetails,
    &kDetailsRayCluster,
    &kWait,
    &kWaitRayCluster,
    &kWaitJob,
    &kHold,
    &kHoldRayCluster,
    &kRelease,
    &kReleaseRayCluster,
    &kQueue,
    &kExplain,
    &kExplainRayCluster,
    &kLogs,
    &kLogsJob,
    &kDown,
    &kImage,
    &kSimulate,
};

// AppWrappers are no noun: where a verb takes a KIND, they are what it may be.
constexpr std::array kNouns = {
    Noun{"raycluster", {"rayclusters", "ray-cluster", "rc"}},
    Noun{"job", {"jobs"}},
};

constexpr std::string_view kHelp = "help";

// The row of a verb with a noun, or null.
const Verb* find(const VerbTable& table, std::string_view word, std::string_view noun) {
  const auto row = std::ranges::find_if(
      table.verbs, [&](const Verb* verb) { return verb->word == word && verb->noun == noun; });
  return row == table.verbs.end() ? nullptr : *row;
}

// The name of the noun that was meant; empty: it is none.
std::string_view noun_of(const VerbTable& table, std::string_view text) {
  const auto is_meant = [&](const Noun& noun) {
    return noun.name == text ||
           (!text.empty() && std::ranges::find(noun.aliases, text) != noun.aliases.end());
  };
  const auto noun = std::ranges::find_if(table.nouns, is_meant);
  return noun == table.nouns.end() ? std::string_view() : noun->name;
}

std::size_t first_word(std::span<const std::string> words) {
  return !words.empty() && words.front() == kHelp ? 1 : 0;
}

// The row with a noun that the words ask for, or null.
const Verb* noun_asked(const VerbTable& table, std::span<const std::string> words) {
  const std::size_t at = first_word(words);
  if (words.size() < at + 2 || words[at + 1].empty()) {
    return nullptr;
  }
  return find(table, words[at], words[at + 1]);
}

std::string footer_of(const VerbTable& table, const Verb& verb) {
  std::string nouns;
  for (const Verb* row : table.verbs) {
    if (row->word == verb.word && !row->noun.empty()) {
      nouns += "  " + std::string(row->word) + " " + std::string(row->noun) + " --help\n";
    }
  }
  return (nouns.empty() ? "" : "More, with options of their own:\n" + nouns) + "Example:\n  " +
         std::string(verb.examples);
}

void add_nouns(CLI::App& verb, const VerbTable& table, std::string_view word, Chosen& chosen) {
  verb.require_subcommand(1);
  for (const Verb* row : table.verbs) {
    if (row->word == word && !row->noun.empty()) {
      CLI::App* noun = verb.add_subcommand(std::string(row->noun), std::string(row->about));
      noun->footer("Example:\n  " + std::string(row->examples));
      row->add(*noun, chosen);
    }
  }
}

}  // namespace

VerbTable verb_table() {
  return {.verbs = kVerbs, .nouns = kNouns};
}

std::vector<std::string> in_order(const VerbTable& table, std::vector<std::string> words) {
  const std::size_t at = first_word(words);
  if (words.size() < at + 2) {
    return words;
  }
  std::string& first = words[at];
  std::string& second = words[at + 1];
  if (const std::string_view noun = noun_of(table, second);
      find(table, first, noun) && !noun.empty()) {
    second = noun;
  } else if (const std::string_view before = noun_of(table, first);
             !before.empty() && find(table, second, before)) {
    first = std::exchange(second, std::string(before));
  }
  return words;
}

void add_verbs(CLI::App& app, const VerbTable& table, std::span<const std::string> words,
               Chosen& chosen) {
  const Verb* asked = noun_asked(table, words);
  for (const Verb* verb : table.verbs) {
    if (!verb->noun.empty()) {
      continue;
    }
    CLI::App* command = app.add_subcommand(std::string(verb->word), std::string(verb->about));
    command->footer(footer_of(table, *verb));
    if (verb->add == nullptr || (asked != nullptr && asked->word == verb->word)) {
      add_nouns(*command, table, verb->word, chosen);
    } else {
      verb->add(*command, chosen);
    }
  }
}

}  // namespace codeflare::cli
