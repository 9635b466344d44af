#pragma once

#include "controllers/job/job_pods.h"
#include "model/extra.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::controllers::job {

// spec.podFailurePolicy of a Job: what the failure of a pod means. The first rule that fits
// decides; without one the failure counts.
class PodFailurePolicy {
 public:
  enum class Action : std::uint8_t { count, ignore, fail_job };
  struct Verdict {
    Action action = Action::count;
    std::string message{};  // of fail_job, in the words of Kubernetes
  };

  // Rules that cannot be read fit no pod; the server has validated them.
  static PodFailurePolicy read(const model::RawJson& policy);

  Verdict verdict_on(const PodDigest& pod, std::string_view ns) const;

 private:
  struct Rule {
    Action action = Action::count;
    bool on_exit_codes = false;
    std::string container{};  // empty: any
    bool not_in = false;
    std::vector<std::int64_t> codes{};
    std::vector<PodCondition> conditions{};

    const PodExit* exit_of(const PodDigest& pod) const;
    const PodCondition* condition_of(const PodDigest& pod) const;
  };
  std::vector<Rule> rules_;
};

}  // namespace codeflare::controllers::job
