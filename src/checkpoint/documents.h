#pragma once

#include "base/result.h"
#include "checkpoint/checkpoint.h"

#include <string>
#include <string_view>

// The JSON of checkpoints and job records, on the wire and on disk.
namespace codeflare::checkpoint {

enum class Detail : std::uint8_t { summary, whole, manifest };

// `summary` leaves out the chunks, `manifest` adds their files and the retention.
std::string checkpoint_text(const Checkpoint& checkpoint, Detail detail);
// Of a manifest or of an answer; fails with data_loss naming the field.
Result<Checkpoint> parse_checkpoint(std::string_view text);

std::string record_text(const JobRecord& record);
Result<JobRecord> parse_record(std::string_view text);

}  // namespace codeflare::checkpoint
