#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare {

// Numbers about the program in Prometheus' text format. Everything here belongs to the loop's
// thread: an increment is a plain addition. References that the registry and its families hand out
// live as long as the registry (a child: until it is removed), so look them up once and keep them.
//   Counter& hits = metrics.counter("cache_hits_total", "Look-ups answered from the cache.");
//   auto& calls = metrics.counters("calls_total", "Calls by result.", {"verb", "result"});
//   Counter& ok = calls.with({"get", "ok"}); ... ok.add();

class Counter {
 public:
  void add(double by = 1) { value_ += by; }
  double value() const { return value_; }
  // For totals that somebody else counts, such as the kernel. Never lower than before.
  void set(double total) { value_ = total; }

 private:
  double value_ = 0;
};

class Gauge {
 public:
  void set(double value) { value_ = value; }
  void add(double by = 1) { value_ += by; }
  void subtract(double by = 1) { value_ -= by; }
  double value() const { return value_; }

 private:
  double value_ = 0;
};

// Counts observations by upper bounds (inclusive, ascending).
class Histogram {
 public:
  explicit Histogram(std::vector<double> bounds);
  void observe(double value);

  std::span<const double> bounds() const { return bounds_; }
  // Per bucket, not added up; the last one is for what exceeds every bound.
  std::span<const std::uint64_t> counts() const { return counts_; }
  double sum() const { return sum_; }
  std::uint64_t count() const { return count_; }

 private:
  std::vector<double> bounds_;
  std::vector<std::uint64_t> counts_;
  double sum_ = 0;
  std::uint64_t count_ = 0;
};

// Seconds from 5 ms to 10 s, as Prometheus' client libraries have them.
std::vector<double> default_buckets();
// start, start * factor, ... `count` of them.
std::vector<double> exponential_buckets(double start, double factor, int count);

namespace internal {

using LabelValues = std::vector<std::string>;

// Lets a look-up compare views with the stored strings.
struct LabelOrder {
  using is_transparent = void;
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) const {
    return std::ranges::lexicographical_compare(
        a, b, [](std::string_view x, std::string_view y) { return x < y; });
  }
};

class FamilyBase {
 public:
  FamilyBase(std::string name, std::string help, std::vector<std::string> labels);
  virtual ~FamilyBase() = default;
  FamilyBase(const FamilyBase&) = delete;
  FamilyBase& operator=(const FamilyBase&) = delete;

  const std::vector<std::string>& labels() const { return labels_; }
  void expose(std::string& out) const;

 protected:
  void check_labels(std::size_t count) const;
  // "name{a="b"} value" with `suffix` after the name and an extra label where given.
  void append_sample(std::string& out, std::string_view suffix, const LabelValues& values,
                     std::string_view le, double value) const;
  void append_child(std::string& out, const LabelValues& values, const Counter& child) const;
  void append_child(std::string& out, const LabelValues& values, const Gauge& child) const;
  void append_child(std::string& out, const LabelValues& values, const Histogram& child) const;

 private:
  virtual std::string_view type() const = 0;
  virtual void append_children(std::string& out) const = 0;

  std::string name_;
  std::string help_;
  std::vector<std::string> labels_;
};

}  // namespace internal

// All metrics of one name, one child for each combination of label values.
template <typename Metric>
class MetricFamily final : public internal::FamilyBase {
 public:
  MetricFamily(std::string name, std::string help, std::vector<std::string> labels, Metric fresh)
      : FamilyBase(std::move(name), std::move(help), std::move(labels)), fresh_(std::move(fresh)) {}

  // As many values as labels, in their order. The child is made when first asked for.
  Metric& with(std::span<const std::string_view> values) {
    check_labels(values.size());
    auto child = children_.find(values);
    if (child == children_.end()) {
      child = children_.emplace(internal::LabelValues(values.begin(), values.end()), fresh_).first;
    }
    return child->second;
  }
  Metric& with(std::initializer_list<std::string_view> values) {
    return with(std::span(values.begin(), values.size()));
  }
  // The child is gone from the output and references to it are invalid.
  void remove(std::initializer_list<std::string_view> values) {
    auto child = children_.find(std::span(values.begin(), values.size()));
    if (child != children_.end()) {
      children_.erase(child);
    }
  }

 private:
  std::string_view type() const override;
  void append_children(std::string& out) const override {
    for (const auto& [values, child] : children_) {
      append_child(out, values, child);
    }
  }

  Metric fresh_;
  std::map<internal::LabelValues, Metric, internal::LabelOrder> children_;
};

// Holds the families of one program; passed down to whoever counts something. Asking again for a
// name gives the same family; with another type, other labels or a wrong name it aborts.
class MetricsRegistry {
 public:
  using Labels = std::vector<std::string>;

  MetricsRegistry() = default;
  MetricsRegistry(const MetricsRegistry&) = delete;
  MetricsRegistry& operator=(const MetricsRegistry&) = delete;

  Counter& counter(const std::string& name, const std::string& help);
  Gauge& gauge(const std::string& name, const std::string& help);
  Histogram& histogram(const std::string& name, const std::string& help,
                       std::vector<double> bounds = default_buckets());

  MetricFamily<Counter>& counters(const std::string& name, const std::string& help, Labels labels);
  MetricFamily<Gauge>& gauges(const std::string& name, const std::string& help, Labels labels);
  MetricFamily<Histogram>& histograms(const std::string& name, const std::string& help,
                                      Labels labels,
                                      std::vector<double> bounds = default_buckets());

  // Runs before each expose(), to refresh gauges that are expensive to keep up to date.
  void on_expose(std::function<void()> refresh);

  // Text exposition format 0.0.4; families sorted by name, children by label values.
  std::string expose();
  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

 private:
  template <typename Metric>
  MetricFamily<Metric>& family(const std::string& name, const std::string& help, Labels labels,
                               Metric fresh);

  std::map<std::string, std::unique_ptr<internal::FamilyBase>> families_;
  std::vector<std::function<void()>> refreshers_;
};

}  // namespace codeflare
