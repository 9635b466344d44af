#include "apiserver/patch/reset_fields.h"

#include <algorithm>
#include <array>

namespace codeflare::apiserver {
namespace {

struct Exception {
  std::string_view group;
  std::string_view plural;
  std::string_view subresource;
  std::array<std::string_view, 3> paths;
};

constexpr std::string_view kCertificates = "certificates.k8s.io";
constexpr std::string_view kRequests = "certificatesigningrequests";

// Where upstream's strategies differ from "status on the main resource, spec on /status".
constexpr std::array<Exception, 13> kExceptions = {{
    {"", "pods", "status", {"spec", "metadata.deletionTimestamp", "metadata.ownerReferences"}},
    {"apps", "deployments", "status", {"spec", "metadata.labels"}},
    {kCertificates, kRequests, "", {"spec", "status"}},
    {kCertificates, kRequests, "status", {"spec", "status.conditions"}},
    {kCertificates, kRequests, "approval", {"spec", "status.certificate"}},
    {"apiextensions.k8s.io", "customresourcedefinitions", "status", {"metadata", "spec"}},
    {"apiregistration.k8s.io", "apiservices", "status", {"metadata", "spec"}},
    {"admissionregistration.k8s.io", "validatingadmissionpolicies", "status", {"metadata", "spec"}},
    {"internal.apiserver.k8s.io", "storageversions", "status", {"metadata", "spec"}},
    {"flowcontrol.apiserver.k8s.io", "flowschemas", "status", {"metadata", "spec"}},
    {"flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations", "status", {"metadata", "spec"}},
    {"storage.k8s.io", "volumeattachments", "status", {"metadata", "spec"}},
    {"storagemigration.k8s.io", "storageversionmigrations", "status", {"metadata", "spec"}},
}};

}  // namespace

std::vector<std::string_view> reset_fields(const Endpoint& endpoint) {
  auto at = std::ranges::find_if(kExceptions, [&](const Exception& exception) {
    return exception.group == endpoint.group && exception.plural == endpoint.plural &&
           exception.subresource == endpoint.subresource;
  });
  if (at != kExceptions.end()) {
    std::vector<std::string_view> paths(at->paths.begin(), at->paths.end());
    std::erase(paths, std::string_view());
    return paths;
  }
  if (endpoint.subresource == "status") {
    return {"spec"};
  }
  bool main = endpoint.subresource.empty() || endpoint.subresource == "finalize";
  return main && endpoint.has_status ? std::vector<std::string_view>{"status"}
                                     : std::vector<std::string_view>();
}

}  // namespace codeflare::apiserver
