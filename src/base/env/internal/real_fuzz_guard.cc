// Part of every fuzzer, between libFuzzer and the fuzzer's own function: an input that costs more
// CPU than its size allows fails as a crash does. libFuzzer's -timeout is one for all sizes, and
// counts the time that other processes of a busy machine take.

#include "base/check.h"

#include <cstddef>
#include <cstdint>
#include <ctime>

// The linker's names (-Wl,--wrap): calls of LLVMFuzzerTestOneInput come here.
extern "C" int __real_LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int __wrap_LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

// With sanitizers.
constexpr double kSecondsFirst = 0.5;
constexpr double kSecondsPerByte = 1e-4;

double cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

extern "C" int __wrap_LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const double begin = cpu_seconds();
  const int result = __real_LLVMFuzzerTestOneInput(data, size);
  const double used = cpu_seconds() - begin;
  CHECK(used <= kSecondsFirst + kSecondsPerByte * static_cast<double>(size),
        "the input costs more CPU than its size allows");
  return result;
}
