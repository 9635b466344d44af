#include "base/metrics.h"

#include "base/check.h"

#include <array>
#include <charconv>
#include <cmath>

namespace codeflare {

namespace {

bool is_name(std::string_view text, bool colons) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    bool digit = c >= '0' && c <= '9';
    if (!(letter || (digit && i > 0) || (colons && c == ':'))) {
      return false;
    }
  }
  return !text.empty();
}

void append_number(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    out += value > 0 ? "+Inf" : "-Inf";
    return;
  }
  std::array<char, 32> digits;
  // Whole numbers stay readable: 10000000, not 1e+07.
  constexpr double kExact = 1e15;
  bool whole = std::abs(value) < kExact && value == std::trunc(value);
  auto end = whole ? std::to_chars(digits.data(), digits.data() + digits.size(),
                                   static_cast<std::int64_t>(value))
                   : std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), end.ptr);
}

void append_escaped(std::string& out, std::string_view text, bool quotes) {
  for (char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else {
      if (c == '\\' || (quotes && c == '"')) {
        out += '\\';
      }
      out += c;
    }
  }
}

}  // namespace

Histogram::Histogram(std::vector<double> bounds)
    : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {
  for (std::size_t i = 0; i < bounds_.size(); ++i) {
    CHECK(std::isfinite(bounds_[i]) && (i == 0 || bounds_[i - 1] < bounds_[i]),
          "bounds of a histogram must be finite and ascend");
  }
}

void Histogram::observe(double value) {
  // NaN is below no bound and lands in the last bucket.
  auto bucket = std::ranges::find_if(bounds_, [&](double bound) { return value <= bound; });
  ++counts_[static_cast<std::size_t>(bucket - bounds_.begin())];
  sum_ += value;
  ++count_;
}

std::vector<double> default_buckets() {
  return {.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10};
}

std::vector<double> exponential_buckets(double start, double factor, int count) {
  CHECK(start > 0 && factor > 1 && count > 0);
  std::vector<double> bounds;
  for (double bound = start; std::ssize(bounds) < count; bound *= factor) {
    bounds.push_back(bound);
  }
  return bounds;
}

namespace internal {

FamilyBase::FamilyBase(std::string name, std::string help, std::vector<std::string> labels)
    : name_(std::move(name)), help_(std::move(help)), labels_(std::move(labels)) {
  CHECK(is_name(name_, true), "not a metric name");
  for (const std::string& label : labels_) {
    CHECK(is_name(label, false) && !label.starts_with("__") && label != "le", "not a label name");
  }
}

void FamilyBase::check_labels(std::size_t count) const {
  CHECK(count == labels_.size(), "as many label values as labels");
}

void FamilyBase::expose(std::string& out) const {
  out += "# HELP " + name_ + ' ';
  append_escaped(out, help_, false);
  out += "\n# TYPE " + name_ + ' ';
  out += type();
  out += '\n';
  append_children(out);
}

void FamilyBase::append_sample(std::string& out, std::string_view suffix, const LabelValues& values,
                               std::string_view le, double value) const {
  out += name_;
  out += suffix;
  char before = '{';
  auto append_label = [&](std::string_view label, std::string_view text) {
    out += std::exchange(before, ',');
    out += label;
    out += "=\"";
    append_escaped(out, text, true);
    out += '"';
  };
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    append_label(labels_[i], values[i]);
  }
  if (!le.empty()) {
    append_label("le", le);
  }
  out += before == ',' ? "} " : " ";
  append_number(out, value);
  out += '\n';
}

void FamilyBase::append_child(std::string& out, const LabelValues& values,
                              const Counter& child) const {
  append_sample(out, "", values, "", child.value());
}

void FamilyBase::append_child(std::string& out, const LabelValues& values,
                              const Gauge& child) const {
  append_sample(out, "", values, "", child.value());
}

void FamilyBase::append_child(std::string& out, const LabelValues& values,
                              const Histogram& child) const {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < child.bounds().size(); ++i) {
    total += child.counts()[i];
    std::string bound;
    append_number(bound, child.bounds()[i]);
    append_sample(out, "_bucket", values, bound, static_cast<double>(total));
  }
  append_sample(out, "_bucket", values, "+Inf", static_cast<double>(child.count()));
  append_sample(out, "_sum", values, "", child.sum());
  append_sample(out, "_count", values, "", static_cast<double>(child.count()));
}

}  // namespace internal

template <>
std::string_view MetricFamily<Counter>::type() const {
  return "counter";
}
template <>
std::string_view MetricFamily<Gauge>::type() const {
  return "gauge";
}
template <>
std::string_view MetricFamily<Histogram>::type() const {
  return "histogram";
}

template <typename Metric>
MetricFamily<Metric>& MetricsRegistry::family(const std::string& name, const std::string& help,
                                              Labels labels, Metric fresh) {
  std::unique_ptr<internal::FamilyBase>& slot = families_[name];
  if (slot == nullptr) {
    slot = std::make_unique<MetricFamily<Metric>>(name, help, std::move(labels), std::move(fresh));
    return static_cast<MetricFamily<Metric>&>(*slot);
  }
  auto* existing = dynamic_cast<MetricFamily<Metric>*>(slot.get());
  CHECK(existing != nullptr, "a metric was registered with two types");
  CHECK(existing->labels() == labels, "a metric was registered with different labels");
  return *existing;
}

Counter& MetricsRegistry::counter(const std::string& name, const std::string& help) {
  return counters(name, help, {}).with({});
}

Gauge& MetricsRegistry::gauge(const std::string& name, const std::string& help) {
  return gauges(name, help, {}).with({});
}

Histogram& MetricsRegistry::histogram(const std::string& name, const std::string& help,
                                      std::vector<double> bounds) {
  return histograms(name, help, {}, std::move(bounds)).with({});
}

MetricFamily<Counter>& MetricsRegistry::counters(const std::string& name, const std::string& help,
                                                 Labels labels) {
  return family(name, help, std::move(labels), Counter());
}

MetricFamily<Gauge>& MetricsRegistry::gauges(const std::string& name, const std::string& help,
                                             Labels labels) {
  return family(name, help, std::move(labels), Gauge());
}

MetricFamily<Histogram>& MetricsRegistry::histograms(const std::string& name,
                                                     const std::string& help, Labels labels,
                                                     std::vector<double> bounds) {
  return family(name, help, std::move(labels), Histogram(std::move(bounds)));
}

void MetricsRegistry::on_expose(std::function<void()> refresh) {
  refreshers_.push_back(std::move(refresh));
}

std::string MetricsRegistry::expose() {
  for (const std::function<void()>& refresh : refreshers_) {
    refresh();
  }
  std::string out;
  for (const auto& [name, family] : families_) {
    family->expose(out);
  }
  return out;
}

}  // namespace codeflare
