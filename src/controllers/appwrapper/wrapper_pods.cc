#include "controllers/appwrapper/wrapper_pods.h"

#include "json/write.h"
#include "model/codec/meta.h"
#include "model/condition.h"
#include "model/pod_requests.h"
#include "queue/marks.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace codeflare::controllers {

using model::ObjectKey;
using model::Pod;

namespace {

constexpr std::size_t kRefusalsShown = 10;
constexpr std::size_t kDepartedMax = 10'000;
constexpr std::string_view kGpu = "nvidia.com/gpu";

// The messages of co-schedulers while they gather a gang; no reason to withdraw it.
bool is_gathering(std::string_view message) {
  const auto has_all = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::all_of(words, [&](std::string_view w) { return message.contains(w); });
  };
  return has_all({"pgName", "last", "failed", "deny"}) ||
         has_all({"optimistic", "rejection", "PostFilter"}) ||
         has_all({"cannot", "find", "enough", "sibling"});
}

// No pod asks for more; sums over any gang stay inside 64 bits.
constexpr std::int64_t kAmountMax = std::int64_t{1} << 46;

bool is_refused(const Pod& pod) {
  const model::Condition* scheduled = model::find_condition(pod.status.conditions, "PodScheduled");
  return pod.status.phase == "Pending" && scheduled != nullptr && scheduled->status == "False" &&
         scheduled->reason == "Unschedulable" && !is_gathering(scheduled->message);
}

std::string conditions_json(const Pod& pod) {
  json::Arena arena;
  json::Value list = json::Value::array();
  for (const model::Condition& condition : pod.status.conditions) {
    list.push_back(arena, model::to_json(arena, condition));
  }
  return json::to_text(list);
}

}  // namespace

PodOwner owner_of(const Pod& pod) {
  const model::StringMap& labels = pod.metadata.labels;
  if (const std::string_view uid = model::find_or_empty(labels, queue::kUidLabel); !uid.empty()) {
    return {.uid = std::string(uid), .key = {pod.metadata.ns, ""}};
  }
  const std::string_view name = model::find_or_empty(labels, queue::kMcadLabel);
  return name.empty() ? PodOwner() : PodOwner{.key = {pod.metadata.ns, std::string(name)}};
}

WrapperPods::Fact WrapperPods::fact_of(const Book& book, const Pod& pod) const {
  Fact fact;
  fact.uid = pod.metadata.uid;
  fact.phase = model::pod_phase(pod.status.phase);
  const model::ResourceList requests = model::pod_requests(pod.spec);
  fact.cpu = std::clamp(requests.get("cpu").milli_value(), std::int64_t{0}, kAmountMax);
  fact.memory = std::clamp(requests.get("memory").value(), std::int64_t{0}, kAmountMax);
  fact.gpu = std::clamp(requests.get(kGpu).value(), std::int64_t{0}, kAmountMax);
  if (is_refused(pod)) {
    fact.refusal = conditions_json(pod);
  }
  if (pod.metadata.deleting() && !queue::is_disrupted(pod)) {
    // However it ends now, somebody wanted it to.
    const auto before = book.facts.find(pod.metadata.key());
    fact.trouble = before == book.facts.end() ? nullptr : before->second.trouble;
  } else if (std::optional<queue::PodTrouble> trouble = queue::trouble_of(pod)) {
    fact.trouble = std::make_shared<const queue::PodTrouble>(*std::move(trouble));
  }
  return fact;
}

void WrapperPods::remember(const PodOwner& owner, const Fact& fact) {
  if (fact.trouble == nullptr || fact.trouble->kind == queue::PodTrouble::Kind::unschedulable ||
      owner.uid.empty()) {
    return;
  }
  const auto known = departed_.find(owner.uid);
  if (known == departed_.end()) {
    // Anybody may write labels of AppWrappers that nobody will ever forget.
    if (departed_.size() < kDepartedMax) {
      departed_.emplace(owner.uid, fact.trouble);
    }
  } else if (queue::is_worse(*fact.trouble, *known->second)) {
    known->second = fact.trouble;
  }
}

void WrapperPods::forget_trouble(const std::string& uid) {
  departed_.erase(uid);
}

void WrapperPods::count(PodsSeen& sums, const Fact& fact, int sign) {
  switch (fact.phase) {
    case Phase::pending:
      sums.pending += sign;
      break;
    case Phase::running:
      sums.running += sign;
      break;
    case Phase::succeeded:
      sums.succeeded += sign;
      break;
    case Phase::failed:
      sums.failed += sign;
      break;
  }
  if (fact.phase == Phase::running || fact.phase == Phase::succeeded) {
    sums.cpu += sign * fact.cpu;
    sums.memory += sign * fact.memory;
    sums.gpu += sign * fact.gpu;
  }
  sums.unschedulable += fact.refusal.empty() ? 0 : sign;
}

WrapperPods::Signs WrapperPods::signs(const Book& book) {
  return {.any = !book.facts.empty(),
          .active = !is_quiet(book.sums),
          .refused = !book.refused.empty(),
          .troubled = !book.troubled.empty()};
}

void WrapperPods::put(Book& book, const ObjectKey& key, Fact fact) {
  take(book, key);
  count(book.sums, fact, +1);
  if (!fact.refusal.empty()) {
    book.refused.insert(key);
  }
  if (fact.trouble != nullptr) {
    book.troubled.insert(key);
  }
  book.facts.emplace(key, std::move(fact));
}

void WrapperPods::take(Book& book, const ObjectKey& key) {
  auto fact = book.facts.find(key);
  if (fact == book.facts.end()) {
    return;
  }
  count(book.sums, fact->second, -1);
  book.refused.erase(key);
  book.troubled.erase(key);
  book.facts.erase(fact);
}

std::vector<WrapperPods::News> WrapperPods::upsert(const Pod& pod) {
  const ObjectKey key = pod.metadata.key();
  const PodOwner owner = owner_of(pod);
  std::vector<News> news;
  if (auto known = owners_.find(key); known != owners_.end() && known->second != owner) {
    news = remove(key);
  }
  if (!owner.empty()) {
    Book& book = books_[owner];
    const Signs before = signs(book);
    put(book, key, fact_of(book, pod));
    owners_[key] = owner;
    news.push_back({owner, signs(book) != before});
  }
  return news;
}

std::vector<WrapperPods::News> WrapperPods::remove(const ObjectKey& key) {
  auto known = owners_.find(key);
  if (known == owners_.end()) {
    return {};
  }
  const PodOwner owner = std::move(known->second);
  owners_.erase(known);
  auto book = books_.find(owner);
  const Signs before = signs(book->second);
  if (const auto fact = book->second.facts.find(key); fact != book->second.facts.end()) {
    remember(owner, fact->second);
  }
  take(book->second, key);
  const bool matters = signs(book->second) != before;
  if (book->second.facts.empty()) {
    books_.erase(book);
  }
  return {{owner, matters}};
}

template <typename F>
void WrapperPods::for_each(const PodsOf& whose, F visit) const {
  if (auto book = books_.find(PodOwner{.uid = whose.uid, .key = {whose.key.ns, ""}});
      book != books_.end()) {
    visit(book->second);
  }
  if (!whose.from_mcad) {
    return;
  }
  if (auto book = books_.find(PodOwner{.key = whose.key}); book != books_.end()) {
    visit(book->second);
  }
}

PodsSeen WrapperPods::seen(const PodsOf& whose) const {
  PodsSeen seen;
  const queue::PodTrouble* worst = nullptr;
  if (const auto gone = departed_.find(whose.uid); gone != departed_.end()) {
    worst = gone->second.get();
  }
  for_each(whose, [&](const Book& book) {
    seen.pending += book.sums.pending;
    seen.running += book.sums.running;
    seen.succeeded += book.sums.succeeded;
    seen.failed += book.sums.failed;
    seen.cpu += book.sums.cpu;
    seen.memory += book.sums.memory;
    seen.gpu += book.sums.gpu;
    seen.unschedulable += book.sums.unschedulable;
    for (const ObjectKey& pod : book.refused) {
      if (seen.unschedulable_pods.size() == kRefusalsShown) {
        break;
      }
      seen.unschedulable_pods.push_back(
          {.pod_name = pod.name, .conditions = {book.facts.at(pod).refusal}});
    }
    for (const ObjectKey& pod : book.troubled) {
      const queue::PodTrouble* trouble = book.facts.at(pod).trouble.get();
      if (worst == nullptr || queue::is_worse(*trouble, *worst)) {
        worst = trouble;
      }
    }
  });
  if (worst != nullptr) {
    seen.trouble = *worst;
  }
  return seen;
}

bool WrapperPods::any(const PodsOf& whose) const {
  bool found = false;
  for_each(whose, [&](const Book&) { found = true; });
  return found;
}

std::vector<WrapperPods::PodRef> WrapperPods::pods(const PodsOf& whose) const {
  std::vector<PodRef> refs;
  for_each(whose, [&](const Book& book) {
    for (const auto& [pod, fact] : book.facts) {
      refs.push_back({pod, fact.uid});
    }
  });
  return refs;
}

}  // namespace codeflare::controllers
