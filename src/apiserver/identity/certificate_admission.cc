#include "apiserver/identity/certificate_admission.h"

#include "apiserver/identity/internal/certificate_request.h"
#include "apiserver/identity/internal/status_error.h"
#include "apiserver/identity/pki.h"
#include "apiserver/schema/field_errors.h"
#include "base/base64.h"

#include <algorithm>
#include <string>

namespace codeflare::apiserver {

namespace {

constexpr std::string_view kGroup = "certificates.k8s.io";
constexpr std::string_view kMasters = "system:masters";

About about(const AdmissionRequest& request) {
  return {.group = kGroup, .resource = request.resource.plural, .name = request.name};
}

std::string_view text_in(const json::Value& object, std::string_view part, std::string_view key) {
  const json::Value* spec = object.find(part);
  return spec == nullptr ? std::string_view() : spec->string_or_empty(key);
}

Result<void> check_subject(const AdmissionRequest& request) {
  if (text_in(*request.object, "spec", "signerName") != kClientSigner) {
    return {};
  }
  const Result<std::string> pem = from_base64(text_in(*request.object, "spec", "request"));
  const Result<internal::ReadRequest> read =
      pem ? internal::read_certificate_request(*pem) : fail(Error(pem.error()));
  // The signer rejects requests that cannot be read.
  if (read && std::ranges::find(read->organizations, kMasters) != read->organizations.end()) {
    return fail(forbidden(about(request), "use of " + std::string(kClientSigner) + " signer with " +
                                              std::string(kMasters) + " group is not allowed"));
  }
  return {};
}

}  // namespace

Result<void> CertificateAdmission::validate(AdmissionRequest& request) {
  if (request.resource.group != kGroup || request.object == nullptr ||
      request.resource.plural != "certificatesigningrequests") {
    return {};
  }
  if (request.operation == Operation::create) {
    return check_subject(request);
  }
  if (request.user.is_admin() || request.old == nullptr) {
    return {};
  }
  if (request.subresource == "approval") {
    return check_signer(request, "approve");
  }
  const bool signs = text_in(*request.object, "status", "certificate") !=
                     text_in(*request.old, "status", "certificate");
  return request.subresource == "status" && signs ? check_signer(request, "sign") : Result<void>();
}

Result<void> CertificateAdmission::check_signer(const AdmissionRequest& request,
                                                std::string_view verb) const {
  const std::string signer(text_in(*request.old, "spec", "signerName"));
  const std::string domain = signer.substr(0, signer.find('/')) + "/*";
  for (const std::string& name : {signer, domain}) {
    const Access access{.verb = std::string(verb),
                        .group = std::string(kGroup),
                        .resource = "signers",
                        .name = name};
    if (policy_.authorize(request.user, access).allowed) {
      return {};
    }
  }
  return fail(forbidden(about(request), "user not permitted to " + std::string(verb) +
                                            " requests with signerName \"" + signer + "\""));
}

}  // namespace codeflare::apiserver
