#include "apiserver/openapi/handler.h"

#include "apiserver/openapi/documents.h"
#include "net/gzip.h"

#include <map>
#include <memory>
#include <string>

namespace codeflare::apiserver {
namespace {

constexpr std::string_view kJson = "application/json";
// With a dot where the Accept header has an at sign: Go's parser of media types rejects that one.
constexpr std::string_view kGnostic = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
constexpr std::string_view kGnosticAsked = "proto-openapi.spec.v2";

bool mentions(const net::Request& request, std::string_view header, std::string_view word) {
  auto value = request.headers.get(header);
  return value && value->find(word) != std::string_view::npos;
}

class Documents {
 public:
  Documents(const Registry& registry, FindDefinition find)
      : documents_(registry, std::move(find)) {}

  Result<net::Response> answer(const RequestInfo& info, const net::Request& request) {
    if (info.path == "/openapi/v2") {
      return answer_v2(request);
    }
    if (info.path == "/openapi/v3" || info.path == "/openapi/v3/") {
      return send(request, "index", etag_of_generation(), kJson,
                  [&] { return documents_.v3_index(); });
    }
    constexpr std::string_view kPrefix = "/openapi/v3/";
    if (info.path.starts_with(kPrefix)) {
      return answer_v3(info, request, std::string_view(info.path).substr(kPrefix.size()));
    }
    return fail(not_found("the server could not find the requested resource"));
  }

 private:
  struct Kept {
    std::string etag;
    Bytes zipped;
  };

  // Documents made of all groups change with the registry and with the process that serves them.
  std::string etag_of_generation() {
    std::string index = documents_.v3_index();
    return std::to_string(std::hash<std::string>()(index));
  }

  Result<net::Response> answer_v2(const net::Request& request) {
    if (mentions(request, "Accept", kGnosticAsked)) {
      return send(request, "v2.pb", etag_of_generation() + "P", kGnostic,
                  [&] { return documents_.v2_protobuf(); });
    }
    return send(request, "v2", etag_of_generation(), kJson, [&] { return documents_.v2_json(); });
  }

  Result<net::Response> answer_v3(const RequestInfo& info, const net::Request& request,
                                  std::string_view path) {
    const std::string hash = documents_.v3_hash(path);
    if (hash.empty()) {
      return fail(not_found("the server could not find the requested resource"));
    }
    auto asked = info.query.get("hash");
    if (asked && *asked != hash) {
      net::Response response;
      response.status = 301;
      response.headers.set("Location", "/openapi/v3/" + std::string(path) + "?hash=" + hash);
      response.body_size = 0;
      return response;
    }
    net::Response response = send(request, std::string(path), hash, kJson,
                                  [&] { return documents_.v3(path).value_or("{}"); });
    if (asked) {
      response.headers.set("Cache-Control", "public, immutable");
    }
    return response;
  }

  template <typename Make>
  net::Response send(const net::Request& request, const std::string& key, const std::string& etag,
                     std::string_view type, Make make) {
    const std::string quoted = "\"" + etag + "\"";
    net::Response response;
    if (mentions(request, "If-None-Match", quoted)) {
      response.status = 304;
      response.body_size = 0;
    } else if (mentions(request, "Accept-Encoding", "gzip")) {
      Kept& kept = zipped_[key];
      if (kept.etag != etag) {
        kept = {etag, Bytes::from(net::gzip(make()))};
      }
      response = net::make_response(200, type, kept.zipped);
      response.headers.set("Content-Encoding", "gzip");
    } else {
      response = net::make_response(200, type, Bytes::from(make()));
    }
    response.headers.set("ETag", quoted);
    response.headers.set("Vary", "Accept, Accept-Encoding");
    response.headers.set("Cache-Control", "no-cache, private");
    return response;
  }

  OpenApiDocuments documents_;
  std::map<std::string, Kept> zipped_;  // a few hundred KB for everything
};

Task<Result<net::Response>> deliver(Result<net::Response> response) {
  co_return std::move(response);
}

}  // namespace

OpenApiHandler make_openapi_handler(const Registry& registry, FindDefinition find) {
  auto documents = std::make_shared<Documents>(registry, std::move(find));
  return [documents](const RequestInfo& info, const net::Request& request) {
    return deliver(documents->answer(info, request));
  };
}

}  // namespace codeflare::apiserver
