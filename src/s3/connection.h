#pragma once

#include "base/env/env.h"
#include "base/result.h"
#include "net/client.h"
#include "s3/client.h"

#include <memory>
#include <string>

namespace codeflare::s3 {

struct Location {
  std::string endpoint{};  // a URL
  std::string bucket{};
  std::string region = "us-east-1";
  std::string keys_directory{};  // see read_credentials()
  // Of each call.
  int attempts_max = ClientOptions{}.attempts_max;
  Duration connect_timeout = net::ClientOptions{}.connect_timeout;
  Duration head_timeout = ClientOptions{}.head_timeout;
};

// A bucket with the connections to it.
struct Connection {
  std::unique_ptr<net::HttpClient> http{};
  std::unique_ptr<Client> client{};
};

// Reads keys and authority. It connects with the first request.
Result<Connection> connect(Env env, const Location& location, std::string user_agent);

}  // namespace codeflare::s3
