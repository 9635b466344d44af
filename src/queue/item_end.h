#pragma once

#include "json/value.h"
#include "model/app_wrapper.h"
#include "queue/demand.h"

#include <string>
#include <string_view>
#include <vector>

// How a wrapped object has ended, as it reports itself. Its kind says where (queue/kinds).
namespace codeflare::queue {

// Whether a condition that is True, the phase or the job status contains one of the words.
bool is_complete(const json::Value& object, std::string_view words);
// Why it failed, for people: "Reason: message"; empty when it did not.
std::string failure_of(const json::Value& object);
// It has ended, well or not: no more pods will come.
bool is_finished(const json::Value& object);
// It has ended well, as its kind reports it.
bool has_succeeded(const json::Value& object);

// Which items the AppWrapper waits for before it completes, one entry per item: those with a
// completionstatus. Without any: all that end by themselves, provided that no other item has pods.
// None: it runs until it is deleted.
std::vector<bool> awaited_items(const model::AppWrapper& wrapper,
                                const std::vector<ItemInfo>& items);
// Why it runs until it is deleted, for people; empty when it completes by itself.
std::string why_it_stays(const model::AppWrapper& wrapper, const std::vector<ItemInfo>& items);

}  // namespace codeflare::queue
