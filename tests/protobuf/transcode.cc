// Lines of base64 in, lines of JSON out: each is one protobuf body. A line that begins with "error
// " says why a body was refused. For protobuf_test.

#include "apiserver/proto/decode.h"
#include "base/base64.h"
#include "json/write.h"

#include <iostream>
#include <string>

int main() {
  std::ios::sync_with_stdio(false);
  std::string line;
  while (std::getline(std::cin, line)) {
    auto body = codeflare::from_base64(line);
    if (!body) {
      std::cerr << "not base64: " << body.error().message << '\n';
      return 2;
    }
    auto decoded = codeflare::apiserver::decode_protobuf(*body);
    std::cout << (decoded ? codeflare::json::to_text(decoded->document.root)
                          : "error " + decoded.error().to_string())
              << '\n';
  }
  return 0;
}
