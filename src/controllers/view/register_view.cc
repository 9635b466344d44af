#include "controllers/view/register_view.h"

#include "base/base64.h"
#include "controllers/view/view_api.h"
#include "json/write.h"

#include <charconv>
#include <utility>

namespace codeflare::controllers::view {

namespace {

// Behind the groups of Kubernetes; no kind of ours competes for a name.
constexpr int kPriority = 100;

std::string registration(const ViewService& at, const std::string& name) {
  std::string text;
  json::Writer w(text);
  w.begin_object().member("apiVersion", "apiregistration.k8s.io/v1").member("kind", "APIService");
  // No labels: those are of the chart, which applies the rest of this too.
  w.key("metadata").begin_object().member("name", name).end_object();
  w.key("spec").begin_object().member("group", kGroup).member("version", kVersion);
  w.key("groupPriorityMinimum").integer(kPriority).key("versionPriority").integer(kPriority);
  w.member("caBundle", to_base64(at.ca_pem)).key("service").begin_object();
  w.member("namespace", at.service.ns).member("name", at.service.name).key("port");
  w.integer(at.port).end_object().end_object().end_object();
  return text;
}

}  // namespace

Result<ViewService> parse_view_service(const std::string& option, const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::size_t colon = text.find(':');
  const std::string name =
      slash == std::string::npos ? "" : text.substr(slash + 1, colon - slash - 1);
  ViewService at{.service = {text.substr(0, slash), name}};
  if (colon != std::string::npos) {
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + colon + 1, end, at.port);
    if (read.ec != std::errc() || read.ptr != end || at.port < 1 || at.port > 65535) {
      return fail(invalid_argument(option + " \"" + text + "\": expected a port"));
    }
  }
  if (at.service.ns.empty() || name.empty()) {
    return fail(invalid_argument(option + " \"" + text + "\": expected NAMESPACE/NAME[:PORT]"));
  }
  return at;
}

Task<Result<void>> register_view(kube::Client& client, ViewService at) {
  const model::ResourceType type{"apiregistration.k8s.io", "v1", "APIService", "apiservices",
                                 false};
  const std::string name = std::string(kVersion) + "." + std::string(kGroup);
  CO_TRY(co_await client.apply(type, {"", name}, registration(at, name),
                               {.field_manager = "codeflare-view", .force = true}));
  co_return Result<void>();
}

}  // namespace codeflare::controllers::view
