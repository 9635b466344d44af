#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/result.h"
#include "kube/client.h"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::kube {

// One kind that the server offers in one version.
struct ApiResource {
  ResourceType type;
  std::string singular;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  std::vector<std::string> verbs;
  std::vector<std::string> subresources;  // "status", "scale"

  bool can(std::string_view verb) const;
  bool has_subresource(std::string_view name) const;
};

struct DiscoveryOptions {
  // Something that is not there makes the server be asked again, but not more often than this.
  Duration refresh_min = std::chrono::seconds(5);
  // Older knowledge is refreshed before it is used.
  Duration age_max = std::chrono::minutes(10);
};

// The resources that the server offers, fetched once and remembered. "Not there" is never
// remembered for long: kinds come and go while a program runs. Loop-bound; the client outlives it.
//   Result<ApiResource> jobs = co_await discovery.find("jobs.batch");
class Discovery {
 public:
  explicit Discovery(Client& client, DiscoveryOptions options = {});
  ~Discovery();
  Discovery(const Discovery&) = delete;
  Discovery& operator=(const Discovery&) = delete;

  // By plural, singular, short name or kind, in any case; "jobs.batch" and "jobs.v1.batch" as
  // kubectl takes them. Without a group the server's order of groups decides, without a version the
  // group's preferred one. `not_found` names what could not be asked for.
  Task<Result<ApiResource>> find(std::string name, std::optional<std::string> group = std::nullopt,
                                 std::string version = {});
  // In the server's order: groups, then versions by preference.
  Task<Result<std::vector<ApiResource>>> resources();
  // Asks now.
  Task<Result<void>> refresh();

  // Groups that did not answer the last time; what is known of them is from before.
  const std::map<std::string, Error>& failures() const { return failures_; }

  struct Part;

 private:
  struct Wanted;
  Task<Result<void>> load();
  Task<Result<void>> load_root(std::string path);
  Task<Result<void>> load_legacy(std::string path, std::string body);
  Task<Result<void>> ensure(bool missed);
  const ApiResource* look_up(const Wanted& wanted) const;
  Error missing(const Wanted& wanted) const;

  Client& client_;
  DiscoveryOptions options_;
  std::map<std::string, std::unique_ptr<Part>> parts_;  // "/api", "/apis"
  std::map<std::string, Error> failures_;
  std::optional<Instant> loaded_at_;
  std::optional<Instant> asked_at_;
  std::optional<Error> last_error_;
  bool loading_ = false;
  WaitList loaded_;
};

}  // namespace codeflare::kube
