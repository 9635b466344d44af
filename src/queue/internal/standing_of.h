#pragma once

#include "queue/internal/state.h"

#include <string>

// The words for where an AppWrapper stands.
namespace codeflare::queue {

Brief brief_of(const QueueState& state, const WrapperRecord& wrapper);
Standing standing_of(const QueueState& state, const WrapperRecord& wrapper);
std::string sentence_of(QueueState& state, const WrapperRecord& wrapper, Time now);
// Why a TrainingJob that runs is not larger.
std::string growth_sentence(const QueueState& state, const WrapperRecord& wrapper, Time now);
// "run 'codeflare release tj bert', or set spec.runPolicy.suspend to false".
std::string release_text(const WorkId& id);
std::string name_of(const QueueState& state, sched::GangId gang);

}  // namespace codeflare::queue
