#include "queue/internal/pod_neighbours.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace codeflare::queue {
namespace {

constexpr std::string_view kHostname = "kubernetes.io/hostname";
constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";

bool reaches(const model::PodAffinityTerm& term, const std::string& ns) {
  if (term.namespaces.empty() && !term.namespace_selector) {
    return true;
  }
  // One without requirements selects every namespace; what others select is not known here.
  const bool everywhere =
      term.namespace_selector && *term.namespace_selector == model::LabelSelector();
  return everywhere || std::ranges::find(term.namespaces, ns) != term.namespaces.end();
}

std::string field(const std::string& list, std::size_t i) {
  return list + "[" + std::to_string(i) + "]";
}

// matchLabelKeys ask for the pod's own values, which the others of its set have too; with
// mismatchLabelKeys these are the very ones that are not meant.
void add_anti_affinity(const model::PodAffinity& affinity, const std::string& ns,
                       const std::string& path, Neighbours& found) {
  for (std::size_t i = 0; i < affinity.required.size(); ++i) {
    const model::PodAffinityTerm& term = affinity.required[i];
    Result<model::Selector> selector = model::to_selector(term.label_selector);
    if (term.topology_key == kHostname && selector && term.mismatch_label_keys.empty() &&
        reaches(term, ns)) {
      found.apart.push_back({field(path, i), *std::move(selector)});
    } else {
      found.unheeded.push_back(field(path, i));
    }
  }
}

// Which sets keep apart from which, and what follows for all of them.
class Apartness {
 public:
  Apartness(const std::vector<Neighbours>& sets, std::vector<PodSetDemand>& pod_sets)
      : sets_(sets),
        pod_sets_(pod_sets),
        near_(sets.size(), std::vector<bool>(sets.size(), false)),
        seen_(sets.size(), false) {}

  std::vector<std::string> run() {
    for (std::size_t a = 0; a < sets_.size(); ++a) {
      for (const ApartTerm& term : sets_[a].apart) {
        read_term(a, term);
      }
    }
    for (std::size_t a = 0; a < sets_.size(); ++a) {
      if (!seen_[a]) {
        settle(connected(a));
      }
    }
    return std::move(unheeded_);
  }

 private:
  // A term works both ways: nor does a pod that it selects go where its owner is.
  void read_term(std::size_t a, const ApartTerm& term) {
    bool speaks_of_ours = false;
    for (std::size_t b = 0; b < sets_.size(); ++b) {
      if (term.selector.matches(sets_[b].labels)) {
        near_[a][b] = near_[b][a] = speaks_of_ours = true;
      }
    }
    if (!speaks_of_ours) {
      unheeded_.push_back(term.field);
    }
  }

  std::vector<std::size_t> connected(std::size_t first) {
    std::vector<std::size_t> members{first};
    seen_[first] = true;
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (std::size_t b = 0; b < sets_.size(); ++b) {
        if (near_[members[i]][b] && !seen_[b]) {
          seen_[b] = true;
          members.push_back(b);
        }
      }
    }
    return members;
  }

  bool all_apart(const std::vector<std::size_t>& members) const {
    return std::ranges::all_of(members, [&](std::size_t a) {
      return std::ranges::all_of(members, [&](std::size_t b) {
        return near_[a][b] || (a == b && pod_sets_[a].pods.count <= 1);
      });
    });
  }

  void settle(const std::vector<std::size_t>& members) {
    if (members.size() == 1 || !all_apart(members)) {
      for (const std::size_t a : members) {
        if (near_[a][a]) {
          pod_sets_[a].pods.apart = ++last_;
        }
        tell_others(a);
      }
      return;
    }
    ++last_;
    for (const std::size_t a : members) {
      pod_sets_[a].pods.apart = last_;
    }
  }

  void tell_others(std::size_t a) {
    for (const ApartTerm& term : sets_[a].apart) {
      for (std::size_t b = 0; b < sets_.size(); ++b) {
        if (b != a && term.selector.matches(sets_[b].labels)) {
          unheeded_.push_back(term.field);
          break;
        }
      }
    }
  }

  const std::vector<Neighbours>& sets_;
  std::vector<PodSetDemand>& pod_sets_;
  std::vector<std::vector<bool>> near_;
  std::vector<bool> seen_;
  std::uint32_t last_ = 0;
  std::vector<std::string> unheeded_;
};

}  // namespace

Neighbours neighbours_of(const model::PodSpec& spec, model::StringMap labels, const std::string& ns,
                         const std::string& path) {
  Neighbours found{.labels = std::move(labels)};
  if (spec.affinity && spec.affinity->pod_affinity) {
    for (std::size_t i = 0; i < spec.affinity->pod_affinity->required.size(); ++i) {
      found.unheeded.push_back(field(path + "affinity.podAffinity." + std::string(kRequired), i));
    }
  }
  if (spec.affinity && spec.affinity->pod_anti_affinity) {
    add_anti_affinity(*spec.affinity->pod_anti_affinity, ns,
                      path + "affinity.podAntiAffinity." + std::string(kRequired), found);
  }
  for (std::size_t i = 0; i < spec.topology_spread_constraints.size(); ++i) {
    if (spec.topology_spread_constraints[i].when_unsatisfiable == "DoNotSchedule") {
      found.unheeded.push_back(field(path + "topologySpreadConstraints", i));
    }
  }
  return found;
}

std::vector<std::string> keep_apart(const std::vector<Neighbours>& sets,
                                    std::vector<PodSetDemand>& pod_sets) {
  std::vector<std::string> unheeded;
  for (const Neighbours& each : sets) {
    unheeded.insert(unheeded.end(), each.unheeded.begin(), each.unheeded.end());
  }
  // Most work says nothing of the kind.
  if (std::ranges::any_of(sets, [](const Neighbours& each) { return !each.apart.empty(); })) {
    const std::vector<std::string> more = Apartness(sets, pod_sets).run();
    unheeded.insert(unheeded.end(), more.begin(), more.end());
  }
  return unheeded;
}

}  // namespace codeflare::queue
