#include "app/code_role.h"

#include "base/env/real_env.h"
#include "sdk/code_secrets.h"

#include <cstdio>
#include <string>
#include <string_view>

namespace codeflare {

int code_main(int argc, char** argv) {
  if (argc != 3 || std::string_view(argv[0]) != "unpack") {
    std::fputs("usage: codeflare code unpack FROM TO\n", stderr);
    return 2;
  }
  RealEnv world;
  const std::string from = argv[1];
  const std::string to = argv[2];
  const Result<std::size_t> count = sdk::unpack_code(world.env().files, from, to);
  if (!count) {
    std::fprintf(stderr, "error: cannot unpack the code of the job from %s: %s\n", from.c_str(),
                 count.error().message.c_str());
    return 1;
  }
  std::printf("unpacked %zu files into %s\n", *count, to.c_str());
  return 0;
}

}  // namespace codeflare
