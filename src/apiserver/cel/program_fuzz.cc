#include "apiserver/cel/program.h"
#include "json/parse.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

// Every text compiles or is rejected, and a compiled program ends within its cost.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const codeflare::json::Document kObject = *codeflare::json::parse(
      R"({"a":1,"b":[1,2.5,"x",null,true],"c":{"d":"e","f-g":{"h":[]}},"t":"2026-01-02T03:04:05Z","q":"1Gi"})");
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto program = codeflare::apiserver::CelProgram::compile(text);
  if (program) {
    codeflare::json::Arena arena;
    std::uint64_t cost = 0;
    auto value =
        program->evaluate(arena, {.self = kObject.root, .old_self = &kObject.root}, 10'000, cost);
    if (value && cost > 10'000) {
      __builtin_trap();
    }
  }
  return 0;
}
