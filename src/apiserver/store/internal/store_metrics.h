#pragma once

#include "base/metrics.h"

#include <string_view>

namespace codeflare::apiserver {

// The store's metrics for Prometheus.
struct StoreMetrics {
  explicit StoreMetrics(MetricsRegistry& registry)
      : commit_seconds(registry.histogram("apiserver_storage_commit_duration_seconds",
                                          "Time from handing a batch to the log to its durability.",
                                          exponential_buckets(0.0001, 2, 16))),
        batch_writes(registry.histogram("apiserver_storage_commit_writes",
                                        "Writes that shared one commit.",
                                        exponential_buckets(1, 2, 12))),
        failed_commits(registry.counter("apiserver_storage_commit_failures_total",
                                        "Batches that the log could not take.")),
        rebuilds(registry.counter("apiserver_storage_rebuilds_total",
                                  "Rewrites of the log from memory.")),
        wal_bytes(registry.gauge(
            "apiserver_storage_wal_bytes",
            "Bytes of the write-ahead log that are not in the database file yet; the log's own "
            "file keeps its size, at most a fold's worth.")),
        history_bytes(registry.gauge("apiserver_storage_history_bytes",
                                     "Superseded versions kept for watches.")),
        revision(registry.gauge("apiserver_storage_revision", "Revision of the last commit.")),
        objects(
            registry.gauges("apiserver_storage_objects", "Objects by resource.", {"resource"})) {}

  Histogram& commit_seconds;
  Histogram& batch_writes;
  Counter& failed_commits;
  Counter& rebuilds;
  Gauge& wal_bytes;
  Gauge& history_bytes;
  Gauge& revision;
  MetricFamily<Gauge>& objects;
};

}  // namespace codeflare::apiserver
