#pragma once

#include "base/async/task.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "controllers/admission/wrapped_findings.h"
#include "controllers/admission/wrapper_review.h"
#include "json/value.h"
#include "kube/client.h"
#include "kube/discovery.h"
#include "net/body_budget.h"
#include "net/http.h"

#include <memory>
#include <string>
#include <vector>

namespace codeflare::admission {

inline constexpr const char* kMutatePath = "/mutate-appwrapper";
inline constexpr const char* kValidatePath = "/validate-appwrapper";

// Answers the API server's admission.k8s.io/v1 reviews of AppWrappers. Rights are looked up with
// SubjectAccessReviews; when one cannot be had the write is rejected, because nobody may create by
// an AppWrapper what they may not create themselves. It seals its records.
class Webhook final : public net::HttpService {
 public:
  Webhook(const Clock& clock, kube::Client& client,
          std::shared_ptr<const controllers::RecordSeal> seal, Logger logger);
  Task<Result<net::Response>> send(net::Request request) override;

 private:
  struct Answer {
    int code = 200;  // of the rejection; 200: allowed
    std::string message{};
    std::string patch{};  // JSON patch
    std::vector<std::string> warnings{};
  };
  Task<Result<Answer>> answer(bool mutate, json::Value review);
  Task<Result<bool>> is_quota_tree(std::string name);
  // Objects that the user may not create, and kinds that the server does not have.
  struct Rights {
    std::vector<std::string> problems{};
    std::vector<std::string> refusals{};
  };
  Task<Result<Rights>> ask(Requester requester, std::vector<Question> questions);
  // A dry run of every wrapped object in the user's name, as many as there is time for.
  Task<WrappedFindings> look_inside(json::Value object, Requester requester);
  Task<Result<WrappedFindings>> try_item(WrappedObject item, std::string ns, Requester requester);
  Task<Result<bool>> may_create(Requester requester, Question question, std::string resource);

  const Clock& clock_;
  kube::Client& client_;
  kube::Discovery discovery_;
  SubmitterTrust trust_;
  Logger logger_;
  net::BodyBudget bodies_;
};

// Where the API server finds the webhook: a Service, or a URL outside the cluster.
struct WebhookAddress {
  std::string url{};  // "https://127.0.0.1:9443"; empty: the service
  std::string service_ns{};
  std::string service_name{};
  int service_port = 443;
};

struct WebhookRegistration {
  WebhookAddress address;
  std::string ca_pem;
  bool legacy_group = false;
  // The configurations are a chart's: only their caBundle is ours.
  bool chart_owned = false;
};

// Makes both configurations, named codeflare-appwrappers, what they should be. failurePolicy Fail:
// while no webhook answers, no AppWrapper is created.
Task<Result<void>> register_webhook(kube::Client& client, WebhookRegistration registration);

}  // namespace codeflare::admission
