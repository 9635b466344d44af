#include "tests/sched/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

namespace codeflare::sched::scenario {

namespace {

const char* state_text(GangState state) {
  switch (state) {
    case GangState::waiting:
      return "waiting";
    case GangState::nominated:
      return "nominated";
    case GangState::running:
      return "running";
    case GangState::draining:
      return "draining";
  }
  return "";
}

// "n1*3" is n1 three times.
std::vector<std::string> expand(const Words& words) {
  std::vector<std::string> all;
  for (const std::string& word : words) {
    const std::size_t star = word.find('*');
    const long count = star == std::string::npos ? 1 : std::stol(word.substr(star + 1));
    all.insert(all.end(), static_cast<std::size_t>(count), word.substr(0, star));
  }
  std::sort(all.begin(), all.end());
  return all;
}

Words after(const Words& words, const std::string& mark) {
  const auto found = std::find(words.begin(), words.end(), mark);
  return found == words.end() ? Words{} : Words(found + 1, words.end());
}

}  // namespace

std::vector<Case> read_cases(const std::string& path) {
  std::vector<Case> cases;
  std::ifstream in(path);
  std::string text;
  for (int number = 1; std::getline(in, text); ++number) {
    const Words words = split(text);
    if (words.empty()) {
      continue;
    }
    if (words.front() == "case") {
      cases.push_back({path.substr(path.rfind('/') + 1), words.at(1), {}});
    } else {
      cases.back().lines.push_back({number, text});
    }
  }
  return cases;
}

void Runner::run(const Case& test) {
  for (const Line& line : test.lines) {
    SCOPED_TRACE(test.file + ":" + std::to_string(line.number) + ": " + line.text);
    obey(split(line.text));
    if (::testing::Test::HasFailure()) {
      return;
    }
  }
}

GangId Runner::gang(const std::string& name) {
  const auto found = core_->find(name);
  if (!found) {
    ADD_FAILURE() << "no gang " << name;
  }
  return found.value_or(GangId{});
}

NodeId Runner::node(const std::string& name) {
  const auto found = core_->find_node(name);
  if (!found) {
    ADD_FAILURE() << "no node " << name;
  }
  return found.value_or(NodeId{});
}

void Runner::step() {
  changed_ = false;
  last_ = core_->step(now_);
  evicted_.clear();
  for (const Eviction& each : last_.evicted) {
    evicted_.emplace(core_->name(each.victim), each.for_gang);
  }
  const auto sound = core_->check_invariants();
  EXPECT_TRUE(sound) << sound.error().message;
}

void Runner::obey(const Words& words) {
  const std::string& verb = words.front();
  const Words rest(words.begin() + 1, words.end());
  if (verb == "expect") {
    // Expectations look at the world after everything before them was decided.
    if (changed_) {
      step();
    }
    expect(rest);
    return;
  }
  if (verb == "step") {
    step();
    return;
  }
  if (verb == "review") {
    if (changed_) {
      step();
    }
    last_.refused = core_->review(now_);
    return;
  }
  if (verb == "machine" || verb == "coming" || verb == "budget" || verb == "wish") {
    offer_machine(verb, rest);
    return;
  }
  if (verb == "at") {
    if (changed_) {
      step();
    }
    now_ = at(std::stoll(rest.at(0)));
  } else if (verb == "options") {
    configure(rest);
  } else if (verb == "node" || verb == "drop" || verb == "foreign" || verb == "quota" ||
             verb == "unquota") {
    change_world(verb, rest);
  } else {
    change_work(verb, rest);
  }
  changed_ = true;
}

void Runner::configure(Words words) {
  Options options;
  options.preemption = take_flag(words, "preemption");
  options.priority_slope = take_flag(words, "slope");
  if (const auto text = take_value(words, "holding"); !text.empty()) {
    options.holding_time = std::chrono::seconds(std::stoll(text));
  }
  if (const auto text = take_value(words, "steps"); !text.empty()) {
    options.search_steps_max = static_cast<std::uint32_t>(std::stoul(text));
  }
  if (const auto text = take_value(words, "policy"); !text.empty()) {
    options.elastic_policy = text == "fair"              ? ElasticPolicy::fair
                             : text == "strict-priority" ? ElasticPolicy::strict_priority
                                                         : ElasticPolicy::throughput;
  }
  if (const auto text = take_value(words, "cooldown"); !text.empty()) {
    options.growth_cooldown = std::chrono::seconds(std::stoll(text));
  }
  if (const auto text = take_value(words, "resize"); !text.empty()) {
    options.resize_cost = std::chrono::seconds(std::stoll(text));
  }
  if (const auto text = take_value(words, "pack"); !text.empty()) {
    options.pack = {text};
  }
  expect_empty(words, "options");
  core_ = std::make_unique<Core>(options);
}

// TREE NODE parent=P ns=N hard limits
void Runner::set_quota(Words words) {
  auto& tree = trees_[words.at(0)];
  QuotaNode added{.name = words.at(1)};
  const std::string name = words.at(0);
  words.erase(words.begin(), words.begin() + 2);
  added.parent = take_value(words, "parent");
  added.ns = take_value(words, "ns");
  added.hard = take_flag(words, "hard");
  const bool again = take_flag(words, "again");
  added.limits = take_resources(words);
  expect_empty(words, "quota");
  if (!again) {
    std::erase_if(tree, [&](const QuotaNode& each) { return each.name == added.name; });
  }
  tree.push_back(added);
  problems_ = core_->set_quota_tree(name, tree);
}

void Runner::change_world(const std::string& verb, const Words& rest) {
  if (verb == "node") {
    note(core_->upsert_node(read_node(rest)));
  } else if (verb == "drop") {
    core_->remove_node(node(rest.at(0)));
  } else if (verb == "foreign") {
    Words words(rest.begin() + 1, rest.end());
    note(core_->set_foreign(node(rest.at(0)), take_resources(words)));
  } else if (verb == "quota") {
    set_quota(rest);
  } else if (rest.size() == 1) {
    trees_.erase(rest.at(0));
    core_->remove_quota_tree(rest.at(0));
  } else {
    std::erase_if(trees_[rest.at(0)],
                  [&](const QuotaNode& each) { return each.name == rest.at(1); });
    problems_ = core_->set_quota_tree(rest.at(0), trees_[rest.at(0)]);
  }
}

// NAME on n1*2,n2 options : SETS; the places are of the first pod set.
void Runner::adopt(const Words& words) {
  Words rest = words;
  const std::string places = take_value(rest, "on");
  GangSpec spec = read_gang(rest);
  spec.submitted = now_;
  Placement placement;
  Words nodes;
  std::string text = places;
  std::replace(text.begin(), text.end(), ',', ' ');
  for (const std::string& name : expand(split(text))) {
    placement.push_back({0, node(name), 1});
  }
  note(core_->adopt(spec, now_, placement));
}

void Runner::change_work(const std::string& verb, const Words& rest) {
  if (verb == "gang") {
    GangSpec spec = read_gang(rest);
    spec.submitted = now_;
    note(core_->submit(spec));
  } else if (verb == "adopt") {
    adopt(rest);
  } else if (verb == "finish") {
    note(core_->remove(gang(rest.at(0))));
  } else if (verb == "drain") {
    note(core_->drain(gang(rest.at(0))));
  } else if (verb == "requeue") {
    note(core_->requeue(gang(rest.at(0)), now_));
  } else if (verb == "priority") {
    note(core_->set_priority(gang(rest.at(0)), std::stoi(rest.at(1))));
  } else if (verb == "hold" || verb == "release") {
    note(core_->set_held(gang(rest.at(0)), verb == "hold"));
  } else if (verb == "bind") {
    // GANG POD SET NODE resources
    Words words(rest.begin() + 4, rest.end());
    note(core_->pod_bound(gang(rest.at(0)), rest.at(1),
                          static_cast<std::uint32_t>(std::stoul(rest.at(2))), node(rest.at(3)),
                          take_resources(words)));
  } else if (verb == "unbind") {
    note(core_->pod_ended(gang(rest.at(0)), rest.at(1), rest.size() > 2));
  } else {
    change_elastic(verb, rest);
  }
}

void Runner::change_elastic(const std::string& verb, const Words& rest) {
  if (verb == "bounds") {
    Words more(rest.begin() + 2, rest.end());
    note(core_->set_bounds(gang(rest.at(0)), read_sizes(rest.at(1), take_value(more, "cooldown"))));
  } else if (verb == "gone") {
    // GANG NODE*COUNT ...: no pod has taken these places
    for (const std::string& name : expand(Words(rest.begin() + 1, rest.end()))) {
      const auto dropped = core_->drop_place(gang(rest.at(0)), 0, node(name));
      ASSERT_TRUE(dropped);
      EXPECT_TRUE(*dropped) << "no place on " << name;
    }
  } else if (verb == "rate") {
    // GANG SIZE=RATE ... [remaining=S]
    Words words(rest.begin() + 1, rest.end());
    Progress progress;
    if (const auto text = take_value(words, "remaining"); !text.empty()) {
      progress.remaining = std::stod(text);
    }
    for (const std::string& word : words) {
      const std::size_t mark = word.find('=');
      progress.rates.push_back({std::stoll(word), std::stod(word.substr(mark + 1))});
    }
    note(core_->set_progress(gang(rest.at(0)), progress));
  } else if (verb == "weight") {
    core_->set_queue_weight(rest.at(0), std::stod(rest.at(1)));
  } else if (verb == "pause" || verb == "resume") {
    core_->set_paused(verb == "pause");
  } else {
    ADD_FAILURE() << "unknown word " << verb;
  }
}

// GANG [more NODES] [less NODES] [for GANG]
void Runner::expect_resized(Words words) {
  const GangId id = gang(words.at(0));
  Words more;
  Words less;
  std::string beneficiary;
  for (const Resize& each : last_.resized) {
    if (each.gang != id) {
      continue;
    }
    const Words came = places(each.more);
    const Words went = places(each.less);
    more.insert(more.end(), came.begin(), came.end());
    less.insert(less.end(), went.begin(), went.end());
    if (each.for_gang) {
      beneficiary = core_->name(*each.for_gang);
    }
  }
  std::sort(more.begin(), more.end());
  std::sort(less.begin(), less.end());
  const auto until = [&](const std::string& mark) {
    Words part = after(words, mark);
    const auto end = std::find_if(part.begin(), part.end(), [](const std::string& word) {
      return word == "more" || word == "less" || word == "for";
    });
    return expand(Words(part.begin(), end));
  };
  EXPECT_EQ(more, until("more"));
  EXPECT_EQ(less, until("less"));
  EXPECT_EQ(beneficiary, after(words, "for").empty() ? "" : after(words, "for").front());
}

void Runner::offer_machine(const std::string& verb, Words words) {
  if (verb == "budget") {
    // [cost=X] [machines=N] [NAMESPACE=X ...]
    if (const auto text = take_value(words, "cost"); !text.empty()) {
      machines_.cost_left = std::stod(text);
    }
    if (const auto text = take_value(words, "machines"); !text.empty()) {
      machines_.machines_left = std::stoll(text);
    }
    for (const std::string& word : words) {
      const std::size_t mark = word.find('=');
      machines_.purses[word.substr(0, mark)] = std::stod(word.substr(mark + 1));
    }
  } else if (verb == "coming") {
    machines_.coming.push_back(read_node(words));
  } else if (verb == "machine") {
    MachineKind kind;
    const auto cost = take_value(words, "cost");
    const auto most = take_value(words, "max");
    kind.cost = cost.empty() ? 0 : std::stod(cost);
    kind.max = kind.left = most.empty() ? 1000 : std::stoll(most);
    kind.node = read_node(words);
    machines_.kinds.push_back(std::move(kind));
  } else {
    // GANG [purse=P] [label K=V] [kind A,B]: types of its pod sets, in order
    MachineWish& wish = wishes_[words.at(0)];
    wish.purse = take_value(words, "purse");
    for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
      const std::string& argument = words[i + 1];
      if (words[i] == "label") {
        const std::size_t mark = argument.find('=');
        wish.labels.emplace_back(argument.substr(0, mark), argument.substr(mark + 1));
      } else {
        std::string text = argument;
        std::replace(text.begin(), text.end(), ',', ' ');
        for (const std::string& name : split(text)) {
          const auto kind = std::ranges::find(
              machines_.kinds, name, [](const MachineKind& each) { return each.node.name; });
          wish.kinds.push_back({static_cast<std::size_t>(kind - machines_.kinds.begin())});
        }
      }
    }
  }
}

// GANG fits | coming | impossible | asks KIND*N ... | over-limit KIND*N ... | nothing
void Runner::expect_machines(const Words& words) {
  machines_.wish = [this](GangId id) {
    const auto wish = wishes_.find(core_->name(id));
    return std::optional(wish == wishes_.end() ? MachineWish{} : wish->second);
  };
  const MachineAnswer answer = core_->machines(machines_, now_);
  const auto sound = core_->check_invariants();
  EXPECT_TRUE(sound) << sound.error().message;
  const auto need = std::ranges::find(answer.needs, gang(words.at(0)), &MachineNeed::gang);
  if (need == answer.needs.end()) {
    EXPECT_EQ(words.at(1), "nothing");
    return;
  }
  constexpr const char* kOutcomes[] = {"fits", "coming", "asks", "over-limit", "impossible"};
  EXPECT_EQ(words.at(1), kOutcomes[static_cast<std::size_t>(need->outcome)]);
  Words machines;
  for (const MachineCount& each : need->machines) {
    machines.insert(machines.end(), static_cast<std::size_t>(each.count),
                    machines_.kinds[each.kind].node.name);
  }
  std::sort(machines.begin(), machines.end());
  EXPECT_EQ(machines, expand(Words(words.begin() + 2, words.end())));
}

std::vector<std::string> Runner::places(const Placement& placement) {
  std::vector<std::string> names;
  for (const Slot& slot : placement) {
    names.insert(names.end(), static_cast<std::size_t>(slot.count), core_->node_name(slot.node));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string Runner::explanation(const std::string& name) {
  const auto answer = core_->explain(gang(name), now_);
  return answer ? to_text(*answer) : answer.error().message;
}

void Runner::expect(Words words) {
  const std::string verb = words.front();
  words.erase(words.begin());
  if (verb == "admitted" || verb == "waiting" || verb == "running" || verb == "nominated" ||
      verb == "draining" || verb == "evicted" || verb == "nothing") {
    expect_state(verb, words);
  } else {
    expect_number(verb, words);
  }
}

void Runner::expect_state(const std::string& verb, const Words& words) {
  if (verb == "nothing") {
    for (const Admission& each : last_.admitted) {
      ADD_FAILURE() << "admitted " << core_->name(each.gang);
    }
    EXPECT_TRUE(last_.evicted.empty());
    for (const Resize& each : last_.resized) {
      ADD_FAILURE() << "resized " << core_->name(each.gang);
    }
    return;
  }
  std::string name = words.at(0);
  if (name.ends_with(':')) {
    name.pop_back();
  }
  if (verb == "evicted") {
    const auto found = evicted_.find(name);
    ASSERT_NE(found, evicted_.end()) << name << " was not evicted";
    EXPECT_EQ(core_->name(found->second), words.at(2));
    return;
  }
  const GangId id = gang(name);
  const auto state = core_->state(id);
  ASSERT_TRUE(state);
  EXPECT_STREQ(state_text(*state), verb == "admitted" ? "running" : verb.c_str())
      << name << ": " << explanation(name);
  const Words because = after(words, "because");
  for (const std::string& text : because) {
    EXPECT_NE(explanation(name).find(text), std::string::npos) << explanation(name);
  }
  if (verb == "admitted") {
    const auto found = std::find_if(last_.admitted.begin(), last_.admitted.end(),
                                    [&](const Admission& each) { return each.gang == id; });
    ASSERT_NE(found, last_.admitted.end()) << name << " was not admitted in this step";
    if (words.size() > 1) {
      EXPECT_EQ(places(found->placement), expand(Words(words.begin() + 1, words.end())));
    }
  } else if (const Words on = after(words, "on"); !on.empty()) {
    EXPECT_EQ(places(*core_->reserved(id)), expand(on));
  }
}

void Runner::expect_number(const std::string& verb, Words words) {
  const auto amounts = [&](const Resources& have, Words wanted) {
    for (const Resource& each : take_resources(wanted)) {
      const auto found = std::find_if(have.begin(), have.end(), [&](const Resource& resource) {
        return resource.name == each.name;
      });
      EXPECT_EQ(found == have.end() ? 0 : found->amount, each.amount) << each.name;
    }
    expect_empty(wanted, "expect");
  };
  if (verb == "free") {
    amounts(core_->free(node(words.at(0))), Words(words.begin() + 1, words.end()));
  } else if (verb == "used") {
    amounts(core_->quota_used(words.at(0), words.at(1)), Words(words.begin() + 2, words.end()));
  } else if (verb == "start") {
    const auto estimate = core_->estimate(gang(words.at(0)), now_);
    ASSERT_TRUE(estimate);
    if (words.at(1) == "unknown") {
      EXPECT_FALSE(estimate->start);
    } else {
      ASSERT_TRUE(estimate->start);
      EXPECT_EQ(*estimate->start, at(std::stoll(words.at(1)))) << to_rfc3339(*estimate->start);
    }
  } else if (verb == "advice") {
    const auto advice = core_->advise(gang(words.at(0)), now_);
    ASSERT_TRUE(advice);
    std::vector<std::string> names;
    for (const Holder& each : advice->would_start_if_ended) {
      names.push_back(each.name);
    }
    for (const Holder& each : advice->would_start_if_shrunk) {
      names.push_back(each.name + "-" + std::to_string(each.growth));
    }
    if (!advice->possible) {
      names = {"impossible"};
    }
    std::sort(names.begin(), names.end());
    EXPECT_EQ(names, expand(Words(words.begin() + 1, words.end())));
  } else if (verb == "told") {
    Words told;
    for (const Refusal& each : last_.refused) {
      told.push_back(core_->name(each.gang) + "=" + to_string(each.why));
    }
    if (told.empty()) {
      told = {"nobody"};
    }
    std::sort(told.begin(), told.end());
    EXPECT_EQ(told, words);
  } else if (verb == "resized") {
    expect_resized(words);
  } else if (verb == "machines") {
    expect_machines(words);
  } else if (verb == "size") {
    // GANG PLANNED [coming=N] [leaving=N]
    const auto size = core_->size(gang(words.at(0)));
    ASSERT_TRUE(size);
    EXPECT_EQ(size->planned, std::stoll(words.at(1)));
    const auto coming = take_value(words, "coming");
    EXPECT_EQ(size->coming, coming.empty() ? 0 : std::stoll(coming));
    const auto leaving = take_value(words, "leaving");
    EXPECT_EQ(size->leaving, leaving.empty() ? 0 : std::stoll(leaving));
  } else if (verb == "position") {
    EXPECT_EQ(core_->explain(gang(words.at(0)), now_)->position, std::stoll(words.at(1)));
  } else if (verb == "queue") {
    Words line;
    for (const GangId id : core_->queue(now_, 100)) {
      line.push_back(core_->name(id));
    }
    EXPECT_EQ(line, words);
  } else if (verb == "wake") {
    if (words.at(0) == "never") {
      EXPECT_FALSE(last_.wake_at);
    } else {
      EXPECT_EQ(last_.wake_at, at(std::stoll(words.at(0))));
    }
  } else if (verb == "problem") {
    ASSERT_FALSE(problems_.empty());
    EXPECT_NE(problems_.front().find(words.at(0)), std::string::npos) << problems_.front();
  } else if (verb == "error") {
    EXPECT_NE(error_.find(words.at(0)), std::string::npos) << error_;
  } else {
    ADD_FAILURE() << "cannot expect " << verb;
  }
}

}  // namespace codeflare::sched::scenario
