#include "tests/sched/scenario_text.h"

#include "model/quantity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace codeflare::sched::scenario {

namespace {

std::pair<std::string, std::string> cut(const std::string& text, char at) {
  const std::size_t place = text.find(at);
  if (place == std::string::npos) {
    return {text, ""};
  }
  return {text.substr(0, place), text.substr(place + 1)};
}

Duration seconds_of(const std::string& text) {
  return text.empty() ? Duration{} : std::chrono::seconds(std::stoll(text));
}

// a|b|c
std::vector<std::string> values_of(std::string text) {
  std::vector<std::string> values;
  while (!text.empty()) {
    auto [first, rest] = cut(text, '|');
    values.push_back(first);
    text = rest;
  }
  return values;
}

Requirement requirement(Operator op, const std::string& text) {
  auto [key, values] = cut(text, '=');
  return {key, op, values_of(values)};
}

Toleration read_toleration(const std::string& text) {
  Toleration toleration;
  auto [head, effect] = cut(text, ':');
  if (effect == "NoSchedule") {
    toleration.effect = Effect::no_schedule;
  }
  if (effect == "NoExecute") {
    toleration.effect = Effect::no_execute;
  }
  if (head == "*") {
    toleration.exists = true;
    return toleration;
  }
  toleration.exists = head.find('=') == std::string::npos;
  std::tie(toleration.key, toleration.value) = cut(head, '=');
  return toleration;
}

bool read_requirement(const std::string& verb, const std::string& argument, Term& term) {
  static const std::map<std::string, Operator> kVerbs{
      {"in", Operator::in},         {"not-in", Operator::not_in},
      {"exists", Operator::exists}, {"absent", Operator::does_not_exist},
      {"gt", Operator::gt},         {"lt", Operator::lt}};
  const auto found = kVerbs.find(verb);
  if (found == kVerbs.end()) {
    return false;
  }
  term.requirements.push_back(requirement(found->second, argument));
  return true;
}

}  // namespace

Words split(std::string_view line) {
  Words words;
  std::string word;
  bool quoted = false;
  bool started = false;
  const auto finish = [&] {
    if (started) {
      words.push_back(word);
    }
    word.clear();
    started = false;
  };
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
      started = true;
    } else if (!quoted && c == '#') {
      break;
    } else if (!quoted && (c == ' ' || c == '\t')) {
      finish();
    } else {
      word += c;
      started = true;
    }
  }
  finish();
  return words;
}

Resources take_resources(Words& words) {
  static const std::vector<std::string> kNames{"cpu",  "memory", "gpu", "pods",
                                               "disk", "nic",    "tpu"};
  Resources resources;
  std::erase_if(words, [&](const std::string& word) {
    auto [name, amount] = cut(word, '=');
    if (amount.empty() || std::find(kNames.begin(), kNames.end(), name) == kNames.end()) {
      return false;
    }
    const auto quantity = model::Quantity::parse(amount);
    if (!quantity) {
      ADD_FAILURE() << "no quantity: " << word;
    }
    if (!quantity) {
      return true;
    }
    const Amount value = name == "cpu" ? quantity->milli_value() : quantity->value();
    resources.push_back({name == "gpu" ? "nvidia.com/gpu" : name, value});
    return true;
  });
  return resources;
}

std::string take_value(Words& words, std::string_view key) {
  const std::string prefix = std::string(key) + "=";
  for (auto word = words.begin(); word != words.end(); ++word) {
    if (!word->starts_with(prefix)) {
      continue;
    }
    std::string value = word->substr(prefix.size());
    words.erase(word);
    return value;
  }
  return "";
}

bool take_flag(Words& words, std::string_view flag) {
  return std::erase(words, flag) > 0;
}

void expect_empty(const Words& words, std::string_view what) {
  for (const std::string& word : words) {
    ADD_FAILURE() << what << " does not know " << word;
  }
}

Taint read_taint(const std::string& text) {
  auto [head, effect] = cut(text, ':');
  Taint taint;
  std::tie(taint.key, taint.value) = cut(head, '=');
  if (effect == "NoExecute") {
    taint.effect = Effect::no_execute;
  }
  if (effect == "PreferNoSchedule") {
    taint.effect = Effect::prefer_no_schedule;
  }
  return taint;
}

// 2-8, 2-8/2 (in steps of 2) or 1,2,4,8
Sizes read_sizes(const std::string& text, const std::string& cooldown) {
  Sizes sizes;
  if (!cooldown.empty()) {
    sizes.cooldown = std::chrono::seconds(std::stoll(cooldown));
  }
  if (text.find('-') != std::string::npos) {
    const auto [low, rest] = cut(text, '-');
    const auto [high, step] = cut(rest, '/');
    sizes.min = std::stoll(low);
    sizes.max = std::stoll(high);
    sizes.step = step.empty() ? 1 : std::stoll(step);
    return sizes;
  }
  std::string rest = text;
  while (!rest.empty()) {
    const auto [first, more] = cut(rest, ',');
    sizes.list.push_back(std::stoll(first));
    rest = more;
  }
  sizes.min = sizes.list.front();
  sizes.max = sizes.list.back();
  return sizes;
}

// COUNT x resources and constraints; `or` begins another affinity term.
PodSet read_pod_set(Words words) {
  PodSet set;
  if (words.size() >= 2 && words[1] == "x") {
    set.count = std::stoll(words[0]);
    words.erase(words.begin(), words.begin() + 2);
  } else if (!words.empty() && words[0] == "x") {
    words.erase(words.begin());
  }
  if (const auto charge = std::find(words.begin(), words.end(), "charge"); charge != words.end()) {
    Words charged(charge + 1, words.end());
    words.erase(charge, words.end());
    set.charge = take_resources(charged);
    expect_empty(charged, "charge");
  }
  set.requests = take_resources(words);
  if (const auto bounds = take_value(words, "sizes"); !bounds.empty()) {
    set.sizes = read_sizes(bounds, take_value(words, "cooldown"));
    set.count = set.sizes->min;
  }
  Term term;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& verb = words[i];
    if (verb == "or") {
      set.affinity.push_back(std::exchange(term, {}));
      continue;
    }
    if (verb == "impossible") {
      set.affinity.push_back({});
      continue;
    }
    if (i + 1 == words.size()) {
      ADD_FAILURE() << "a pod set does not know " << verb;
      break;
    }
    const std::string& argument = words[++i];
    if (verb == "select") {
      set.selector.push_back(cut(argument, '='));
    } else if (verb == "tolerate") {
      set.tolerations.push_back(read_toleration(argument));
    } else if (verb == "apart") {
      set.apart = static_cast<std::uint32_t>(std::stoul(argument));
    } else if (!read_requirement(verb, argument, term)) {
      ADD_FAILURE() << "a pod set does not know " << verb;
    }
  }
  if (!term.requirements.empty()) {
    set.affinity.push_back(term);
  }
  return set;
}

// NAME options : SET ; SET
GangSpec read_gang(const Words& words) {
  GangSpec spec;
  const auto colon = std::find(words.begin(), words.end(), ":");
  Words options(words.begin(), colon);
  spec.name = options.front();
  options.erase(options.begin());
  if (const auto text = take_value(options, "priority"); !text.empty()) {
    spec.priority = std::stoi(text);
  }
  if (const auto text = take_value(options, "slope"); !text.empty()) {
    spec.slope = std::stod(text);
  }
  spec.ns = take_value(options, "ns");
  spec.expected = seconds_of(take_value(options, "expected"));
  spec.limit = seconds_of(take_value(options, "limit"));
  spec.held = take_flag(options, "held");
  spec.preemptible = !take_flag(options, "unpreemptible");
  spec.pausable = !take_flag(options, "unpausable");
  for (std::string text = take_value(options, "quota"); !text.empty();
       text = take_value(options, "quota")) {
    const auto [tree, node] = cut(text, '/');
    spec.quota.push_back({tree, node});
  }
  spec.queue = take_value(options, "queue");
  for (std::string key = take_value(options, "within"); !key.empty();
       key = take_value(options, "within")) {
    spec.within.keys.push_back(key);
  }
  for (std::string text = take_value(options, "prefer"); !text.empty();
       text = take_value(options, "prefer")) {
    spec.within.prefer.push_back(values_of(text));
  }
  expect_empty(options, "a gang");
  Words set;
  for (auto word = colon == words.end() ? colon : colon + 1; word != words.end(); ++word) {
    if (*word == ";") {
      spec.pod_sets.push_back(read_pod_set(std::exchange(set, {})));
    } else {
      set.push_back(*word);
    }
  }
  if (!set.empty()) {
    spec.pod_sets.push_back(read_pod_set(set));
  }
  return spec;
}

// NAME resources label a=b taint c=d:NoSchedule cordoned
NodeSpec read_node(const Words& all) {
  NodeSpec spec;
  spec.name = all.front();
  Words words(all.begin() + 1, all.end());
  spec.allocatable = take_resources(words);
  spec.unschedulable = take_flag(words, "cordoned");
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    if (words[i] == "label") {
      spec.labels.push_back(cut(words[i + 1], '='));
    } else if (words[i] == "taint") {
      spec.taints.push_back(read_taint(words[i + 1]));
    } else {
      ADD_FAILURE() << "a node does not know " << words[i];
    }
  }
  return spec;
}

}  // namespace codeflare::sched::scenario
