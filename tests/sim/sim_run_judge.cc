#include "tests/sim/sim_run_judge.h"

#include "model/meta.h"
#include "platform/names.h"

#include <algorithm>
#include <utility>

namespace codeflare::sim {

namespace {

bool is_end(const std::string& phase) {
  return phase == model::run_phase::kCompleted || phase == model::run_phase::kFailed;
}

}  // namespace

void RunJudge::complain(std::string what) {
  if (violations_.size() < 10) {
    violations_.push_back(std::move(what));
  }
}

void RunJudge::look(const RunView& view) {
  for (const model::AppWrapper& wrapper : view.wrappers) {
    const auto run = wrapper.metadata.labels.find(platform::kRunLabel);
    const model::OwnerReference* owner = model::controller_of(wrapper.metadata);
    if (owner == nullptr || run == wrapper.metadata.labels.end()) {
      continue;
    }
    std::set<std::string>& known = wrappers_[owner->uid];
    if (known.insert(wrapper.metadata.uid).second) {
      counts_["AppWrappers"] += 1;
      if (known.size() == 2) {
        complain("Run " + run->second + " has had 2 AppWrappers");
      }
    }
  }
  for (const model::Run& run : view.runs) {
    std::string& last = phases_[run.metadata.uid];
    if (last == run.status.phase) {
      continue;
    }
    if (is_end(last)) {
      complain("Run " + run.metadata.name + " went from " + last + " to " + run.status.phase);
    }
    last = run.status.phase;
    counts_["phase " + (last.empty() ? std::string("none") : last)] += 1;
  }
}

void RunJudge::look_at_rest(const RunView& view) {
  std::set<std::string> alive;
  for (const model::Run& run : view.runs) {
    alive.insert(run.metadata.uid);
    if (!is_end(run.status.phase) && !run.spec.suspend) {
      complain("Run " + run.metadata.name + " is " + run.status.phase +
               " long after the faults: " + run.status.message);
    }
  }
  std::set<std::string> wrappers;
  for (const model::AppWrapper& wrapper : view.wrappers) {
    wrappers.insert(wrapper.metadata.uid);
    const model::OwnerReference* owner = model::controller_of(wrapper.metadata);
    if (owner == nullptr || !alive.contains(owner->uid)) {
      complain("AppWrapper " + wrapper.metadata.name + " has outlived its Run");
    }
  }
  for (const model::Secret& secret : view.secrets) {
    for (const model::OwnerReference& owner : secret.metadata.owner_references) {
      counts_["Secrets"] += 1;
      if (!wrappers.contains(owner.uid)) {
        complain("Secret " + secret.metadata.name + " has outlived its AppWrapper");
      }
    }
  }
}

std::string RunJudge::versions_of(const RunView& view) {
  std::string text;
  const auto add = [&](const model::ObjectMeta& metadata) {
    text += metadata.name + " " + metadata.resource_version + "\n";
  };
  std::ranges::for_each(view.runs, add, &model::Run::metadata);
  std::ranges::for_each(view.wrappers, add, &model::AppWrapper::metadata);
  std::ranges::for_each(view.secrets, add, &model::Secret::metadata);
  return text;
}

}  // namespace codeflare::sim
