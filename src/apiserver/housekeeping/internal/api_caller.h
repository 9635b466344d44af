#pragma once

#include "apiserver/registry/resource.h"
#include "base/async/task.h"
#include "base/result.h"
#include "json/value.h"
#include "net/http.h"

#include <string>
#include <string_view>

namespace codeflare::apiserver::internal {

// Where an object is served, in its storage version if that is; an empty name gives the collection.
std::string path_of(const Resource& resource, std::string_view ns, std::string_view name,
                    std::string_view subresource = "");

// The server's own API as a client sees it: housekeeping writes through the same pipeline as
// everybody, so that finalizers, grace and admission are the same.
class ApiCaller {
 public:
  explicit ApiCaller(net::HttpService& service) : service_(service) {}

  // The object that was answered. A Status of failure is an error.
  Task<Result<json::Document>> call(std::string method, std::string path, std::string body,
                                    std::string content_type = "application/json");
  // Deletes this very object (by uid); not found counts as done. With a revision only when it is
  // still at that one: a conflict otherwise.
  Task<Result<void>> remove(std::string path, std::string uid, std::string propagation,
                            Revision revision = 0);
  Task<Result<void>> merge_patch(std::string path, std::string patch);

 private:
  net::HttpService& service_;
};

}  // namespace codeflare::apiserver::internal
