#include "base/env/process.h"
#include "base/env/process_metrics.h"

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

namespace codeflare {

namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double open_descriptors() {
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc/self/fd", error);
  double count = 0;
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    ++count;
  }
  // The one that reads the directory is not ours to report.
  return count > 0 ? count - 1 : 0;
}

double descriptors_max() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::numeric_limits<double>::infinity();
  }
  return static_cast<double>(limit.rlim_cur);
}

// Seconds after the start of the machine.
double started_after_boot() {
  std::ifstream file("/proc/self/stat");
  std::string text;
  std::getline(file, text);
  // The second field is the program's name in parentheses and may contain anything; the start, in
  // clock ticks, is the twentieth field after it.
  std::size_t at = text.rfind(')');
  for (int field = 0; field < 20 && at != std::string::npos; ++field) {
    at = text.find(' ', at + 1);
  }
  double ticks = at == std::string::npos ? 0 : std::strtod(text.c_str() + at, nullptr);
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

// Seconds since the epoch.
double boot_time() {
  std::ifstream file("/proc/stat");
  double boot = 0;
  for (std::string word; file >> word;) {
    if (word == "btime") {
      file >> boot;
      break;
    }
  }
  return boot;
}

}  // namespace

void add_process_metrics(MetricsRegistry& metrics) {
  Gauge& resident =
      metrics.gauge("process_resident_memory_bytes", "Resident memory size in bytes.");
  Gauge& virtual_size =
      metrics.gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.");
  Counter& cpu = metrics.counter("process_cpu_seconds_total",
                                 "Total user and system CPU time spent in seconds.");
  Gauge& descriptors = metrics.gauge("process_open_fds", "Number of open file descriptors.");
  Gauge& limit = metrics.gauge("process_max_fds", "Maximum number of open file descriptors.");
  metrics
      .gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds.")
      .set(boot_time() + started_after_boot());
  metrics.on_expose([&resident, &virtual_size, &cpu, &descriptors, &limit] {
    const MemoryBytes bytes = memory_of_process();
    resident.set(static_cast<double>(bytes.resident));
    virtual_size.set(static_cast<double>(bytes.virtual_size));
    cpu.set(cpu_seconds());
    descriptors.set(open_descriptors());
    limit.set(descriptors_max());
  });
}

}  // namespace codeflare
