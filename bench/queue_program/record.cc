#include "bench/queue_program/record.h"

#include "bench/queue_program/scenario.h"
#include "json/write.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string_view>
#include <vector>

namespace codeflare::bench {

namespace {

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

void write_times(json::Writer& w, std::string_view name, std::vector<double> times) {
  w.key(name).begin_object();
  if (!times.empty()) {
    std::ranges::sort(times);
    const double sum = std::accumulate(times.begin(), times.end(), 0.0);
    w.key("mean").number(sum / static_cast<double>(times.size()));
    w.key("p50").number(times[times.size() / 2]);
    w.key("p99").number(times[times.size() * 99 / 100]);
    w.key("max").number(times.back());
  }
  w.end_object();
}

}  // namespace

Record::Entry& Record::entry(const model::ObjectKey& key) {
  const auto [at, is_new] = entries_.try_emplace(key);
  if (is_new) {
    at->second.created = clock_.now();
  }
  return at->second;
}

void Record::created(const model::ObjectKey& key) {
  entry(key);
}

void Record::admitted(const model::ObjectKey& key) {
  Entry& known = entry(key);
  if (known.runs || known.finished) {
    return;
  }
  known.runs = true;
  known.last_admitted = clock_.now();
  if (!known.first_admitted) {
    known.first_admitted = known.last_admitted;
  }
  ++admitted_count_;
}

void Record::evicted(const model::ObjectKey& key) {
  Entry& known = entry(key);
  if (!known.runs || known.finished) {
    return;
  }
  known.runs = false;
  ++evicted_count_;
}

void Record::finished(const model::ObjectKey& key) {
  Entry& known = entry(key);
  if (known.finished) {
    return;
  }
  known.finished = clock_.now();
  ++finished_count_;
}

std::string Record::report() const {
  struct Times {
    std::vector<double> first;
    std::vector<double> last;
    std::int64_t count = 0;
  };
  std::map<std::string, Times> classes;
  Instant begin = Instant::max();
  Instant end = Instant::min();
  for (const auto& [key, each] : entries_) {
    Times& times = classes[std::string(class_of(key.name))];
    ++times.count;
    begin = std::min(begin, each.created);
    end = std::max(end, each.finished.value_or(each.created));
    if (each.first_admitted) {
      times.first.push_back(seconds(*each.first_admitted - each.created));
      times.last.push_back(seconds(*each.last_admitted - each.created));
    }
  }
  std::string text;
  json::Writer w(text);
  w.begin_object();
  w.key("wall_seconds").number(entries_.empty() ? 0 : seconds(end - begin));
  w.key("created").integer(created_count()).key("admitted").integer(admitted_count_);
  w.key("evicted").integer(evicted_count_).key("finished").integer(finished_count_);
  w.key("classes").begin_object();
  for (const auto& [name, times] : classes) {
    w.key(name).begin_object().key("count").integer(times.count);
    write_times(w, "first", times.first);
    write_times(w, "last", times.last);
    w.end_object();
  }
  w.end_object().end_object();
  return text;
}

}  // namespace codeflare::bench
