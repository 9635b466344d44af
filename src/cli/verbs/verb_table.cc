#include "cli/verbs/verb_table.h"

#include "cli/verbs/cancel.h"
#include "cli/verbs/check.h"
#include "cli/verbs/checkpoint.h"
#include "cli/verbs/cluster.h"
#include "cli/verbs/compile.h"
#include "cli/verbs/completion.h"
#include "cli/verbs/crds.h"
#include "cli/verbs/create.h"
#include "cli/verbs/create_raycluster.h"
#include "cli/verbs/dashboard.h"
#include "cli/verbs/define_job.h"
#include "cli/verbs/define_raycluster.h"
#include "cli/verbs/define_run.h"
#include "cli/verbs/delete.h"
#include "cli/verbs/delete_raycluster.h"
#include "cli/verbs/down.h"
#include "cli/verbs/end_job.h"
#include "cli/verbs/end_run.h"
#include "cli/verbs/end_training.h"
#include "cli/verbs/explain.h"
#include "cli/verbs/explain_training.h"
#include "cli/verbs/follow_job.h"
#include "cli/verbs/follow_run.h"
#include "cli/verbs/follow_training.h"
#include "cli/verbs/hold.h"
#include "cli/verbs/image.h"
#include "cli/verbs/list.h"
#include "cli/verbs/login.h"
#include "cli/verbs/logs.h"
#include "cli/verbs/logs_raycluster.h"
#include "cli/verbs/logs_training.h"
#include "cli/verbs/priority.h"
#include "cli/verbs/priority_training.h"
#include "cli/verbs/queue.h"
#include "cli/verbs/queued_raycluster.h"
#include "cli/verbs/quota.h"
#include "cli/verbs/run.h"
#include "cli/verbs/scale_training.h"
#include "cli/verbs/show_job.h"
#include "cli/verbs/show_raycluster.h"
#include "cli/verbs/show_run.h"
#include "cli/verbs/show_training.h"
#include "cli/verbs/show_usage.h"
#include "cli/verbs/simulate.h"
#include "cli/verbs/status.h"
#include "cli/verbs/submit_job.h"
#include "cli/verbs/submit_run.h"
#include "cli/verbs/top.h"
#include "cli/verbs/update_raycluster.h"
#include "cli/verbs/user.h"
#include "cli/verbs/wait_raycluster.h"
#include "cli/views/kinds.h"

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
    &kDefineJob,
    &kDefineRun,
    &kCreate,
    &kCreateRayCluster,
    &kCreateJob,
    &kSubmit,
    &kSubmitRayCluster,
    &kSubmitJob,
    &kSubmitRun,
    &kUpdate,
    &kUpdateRayCluster,
    &kScale,
    &kScaleTraining,
    &kCompile,
    &kCancel,
    &kCancelJob,
    &kCancelRun,
    &kCancelTraining,
    &kDelete,
    &kDeleteRayCluster,
    &kDeleteJob,
    &kDeleteRun,
    &kDeleteTraining,
    &kList,
    &kListRayCluster,
    &kListJob,
    &kListRun,
    &kListTraining,
    &kListApplications,
    &kListDataSets,
    &kListSizes,
    &kGet,
    &kGetRayCluster,
    &kGetJob,
    &kStatus,
    &kStatusRayCluster,
    &kStatusJob,
    &kStatusRun,
    &kStatusTraining,
    &kDetails,
    &kDetailsRayCluster,
    &kDetailsJob,
    &kDetailsRun,
    &kWait,
    &kWaitRayCluster,
    &kWaitJob,
    &kWaitRun,
    &kWaitTraining,
    &kPriority,
    &kPriorityTraining,
    &kHold,
    &kHoldRayCluster,
    &kHoldJob,
    &kHoldRun,
    &kHoldTraining,
    &kRelease,
    &kReleaseRayCluster,
    &kReleaseJob,
    &kReleaseRun,
    &kReleaseTraining,
    &kQueue,
    &kQuota,
    &kTop,
    &kUsageVerb,
    &kExplain,
    &kExplainRayCluster,
    &kExplainJob,
    &kExplainRun,
    &kExplainTraining,
    &kLogs,
    &kLogsRayCluster,
    &kLogsJob,
    &kLogsRun,
    &kLogsTraining,
    &kDashboard,
    &kSession,
    &kDown,
    &kImage,
    &kCheckpoint,
    &kUser,
    &kCluster,
    &kCrds,
    &kCheck,
    &kAccess,
    &kSimulate,
    &kCompletion,
};

// AppWrappers are not a noun: where a verb takes a KIND, they are what it may be.
constexpr std::array kNouns = {
    Noun{"raycluster", {"rayclusters", "ray-cluster", "rc"}},
    Noun{"job", {"jobs"}},
    Noun{"run", {"runs"}},
    Noun{"trainingjob", {"trainingjobs", "tj", "trainingjob.breezeml.ai"}},
    Noun{"applications", {"application", "app"}},
    Noun{"datasets", {"dataset"}},
    Noun{"sizes", {"size", "rsc"}},
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

// Options of nearly every verb that take a value; people type them before the verb as well.
constexpr std::array<std::string_view, 8> kWithValue = {
    "-n", "--namespace", "--context", "--kubeconfig", "-o", "--output", "--timeout", "--data-dir"};

// How many words at the front are options, with their values.
std::size_t options_before(std::span<const std::string> words) {
  std::size_t at = 0;
  while (at < words.size() && words[at].size() > 1 && words[at].starts_with('-')) {
    at += std::ranges::find(kWithValue, words[at]) != kWithValue.end() ? 2 : 1;
  }
  return at;
}

// Options before a verb go to the end, but for the command of a job behind "--".
std::vector<std::string> verb_first(std::vector<std::string> words) {
  const std::size_t count = options_before(words);
  if (count == 0 || count >= words.size() || words[count] == kHelp) {
    return words;
  }
  const auto verb = words.begin() + static_cast<std::ptrdiff_t>(count);
  std::rotate(words.begin(), verb, std::find(verb, words.end(), "--"));
  return words;
}

bool is_kind(std::string_view text) {
  return parse_kind(text).has_value();
}

// "logs aw/train" becomes "logs aw train"; of several, each has the same kind before it.
void split_name(const VerbTable& table, std::vector<std::string>& words, std::size_t at) {
  const std::size_t slash = words[at + 1].find('/');
  if (slash == std::string::npos || slash == 0 || words[at + 1].starts_with('-')) {
    return;
  }
  const std::string kind = words[at + 1].substr(0, slash);
  const Verb* verb = find(table, words[at], "");
  const std::string_view noun = noun_of(table, kind);
  const bool known = (verb != nullptr && verb->takes_kind && is_kind(kind)) ||
                     (!noun.empty() && find(table, words[at], noun) != nullptr);
  if (!known) {
    return;
  }
  for (std::size_t i = at + 1; i < words.size() && words[i] != "--"; ++i) {
    if (words[i].starts_with(kind + "/")) {
      words[i].erase(0, slash + 1);
    }
  }
  words.insert(words.begin() + static_cast<std::ptrdiff_t>(at) + 1, kind);
}

// `run` is a noun as well, but in the first place it is the verb: `run list` runs a program.
bool acts_alone(const VerbTable& table, std::string_view word) {
  const Verb* verb = find(table, word, "");
  return verb != nullptr && verb->add != nullptr;
}

// The noun of a verb that does nothing without one and has no other; empty: there is none.
std::string_view only_noun(const VerbTable& table, std::string_view word) {
  const Verb* verb = find(table, word, "");
  if (verb == nullptr || verb->add != nullptr) {
    return {};
  }
  std::string_view only;
  for (const Verb* row : table.verbs) {
    if (row->word == word && !row->noun.empty()) {
      if (!only.empty()) {
        return {};
      }
      only = row->noun;
    }
  }
  return only;
}

struct HelpGroup {
  std::string_view title;
  std::array<std::string_view, 10> words;
};
constexpr std::array kHelpGroups = {
    HelpGroup{"Cluster", {"up", "down", "image", "proxy", "login", "logout"}},
    HelpGroup{"Queue",
              {"queue", "explain", "priority", "hold", "release", "quota", "top", "usage"}},
    HelpGroup{"Administration",
              {"user", "cluster", "controller", "node", "apiserver", "checkpointd", "checkpoint",
               "crds", "check", "simulate"}},
    HelpGroup{"Other", {"help", "version", "completion"}},
};

std::string footer_of(const VerbTable& table, const Verb& verb) {
  std::string nouns;
  for (const Verb* row : table.verbs) {
    if (row->word == verb.word && !row->noun.empty()) {
      nouns += "  " + std::string(row->word) + " " + std::string(row->noun) + " --help\n";
    }
  }
  return (nouns.empty() ? "" : "Nouns with their own options:\n" + nouns) + "Example:\n  " +
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
  words = verb_first(std::move(words));
  const std::size_t at = first_word(words);
  if (words.size() < at + 2) {
    return words;
  }
  split_name(table, words, at);
  std::string& first = words[at];
  std::string& second = words[at + 1];
  if (const std::string_view noun = noun_of(table, second);
      find(table, first, noun) && !noun.empty()) {
    second = noun;
  } else if (const std::string_view before = noun_of(table, first);
             !before.empty() && !acts_alone(table, first) && find(table, second, before)) {
    first = std::exchange(second, std::string(before));
  } else if (const std::string_view only = only_noun(table, first);
             !only.empty() && !second.starts_with('-') && !is_kind(second) &&
             noun_of(table, second).empty()) {
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::string(only));
  }
  return words;
}

std::string_view help_group(std::string_view word) {
  for (const HelpGroup& group : kHelpGroups) {
    if (std::ranges::find(group.words, word) != group.words.end() && !word.empty()) {
      return group.title;
    }
  }
  return "Work";
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
    command->group(std::string(help_group(verb->word)));
    if (verb->add == nullptr || (asked != nullptr && asked->word == verb->word)) {
      add_nouns(*command, table, verb->word, chosen);
    } else {
      verb->add(*command, chosen);
    }
  }
}

}  // namespace codeflare::cli
