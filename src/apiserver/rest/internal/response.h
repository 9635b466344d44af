#pragma once

#include "apiserver/rest/internal/server.h"
#include "base/async/task.h"
#include "base/error.h"
#include "model/status.h"
#include "net/http.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver::internal {

// {"kind":"Status","apiVersion":"v1",...}
std::string status_text(const model::Status& status);

// The error as the HTTP answer that clients of Kubernetes expect; Retry-After where it says so.
net::Response error_response(const Error& error);
net::Response status_response(const model::Status& status);

// 299 - "text", for each that differs, shortened as upstream does when there are too many.
void add_warnings(net::Response& response, const std::vector<std::string>& warnings);

net::Response json_response(int status, Bytes text);

// Pieces that are there already, handed out one by one without being joined.
net::Body body_of_pieces(std::vector<Bytes> pieces);

// One object (its text in the storage version) in the form that the request asks for.
Task<Result<net::Response>> object_response(Call& call, int status, Bytes text);
// Something that is not stored: an answer of a virtual resource, a Scale.
net::Response value_response(int status, const json::Value& value, const Form& form);

}  // namespace codeflare::apiserver::internal
