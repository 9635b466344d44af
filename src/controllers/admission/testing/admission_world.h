#pragma once

#include "apiserver/server/api_server.h"
#include "base/env/sim_env.h"
#include "base/log_capture.h"
#include "base/metrics.h"

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::admission::testing {

struct Reply {
  int status = 0;
  std::string body{};
  std::vector<std::string> warnings{};  // headers
  // The JSON at the path; "absent" when there is none.
  std::string at(std::initializer_list<std::string_view> path) const;
};

// An AppWrapper around one object "item" of that kind; `meta` and `item_meta` are members with a
// comma at the end.
std::string wrapper(std::string_view name, std::string_view api_version, std::string_view kind,
                    std::string_view meta = "", std::string_view item_meta = "");

// An API server in virtual time that knows AppWrappers, with or without the built-in rules, and a
// namespace "team".
class AdmissionWorld {
 public:
  explicit AdmissionWorld(bool built_in = true);
  ~AdmissionWorld();

  Reply as(const std::string& user, std::string method, std::string_view target,
           std::string body = "", std::string type = "application/json");
  Reply patch(const std::string& user, std::string_view target, std::string body);
  // ann may create AppWrappers and ConfigMaps in the namespace team, and nothing else.
  void let_ann_submit_config_maps();

  // And the kind, when it is the first.
  void make_quota_tree(std::string_view name);

  Env env() { return sim_.env(); }
  net::HttpService& service() { return server_->service(); }

 private:
  SimEnv sim_;
  MetricsRegistry metrics_;
  LogCapture log_;
  std::unique_ptr<apiserver::ApiServer> server_;
};

}  // namespace codeflare::admission::testing
