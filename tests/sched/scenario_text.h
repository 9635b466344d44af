#pragma once

#include "sched/spec.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

// The words of scenario files. README.md beside this file describes them.
namespace codeflare::sched::scenario {

using Words = std::vector<std::string>;

// Words separated by blanks; "quoted text" is one word without its quotes; # begins a comment.
Words split(std::string_view line);

// "cpu=500m" and the like; `gpu` is short for nvidia.com/gpu. Words that are not a resource stay.
Resources take_resources(Words& words);
// key=value: the value, or empty; the word is removed.
std::string take_value(Words& words, std::string_view key);
bool take_flag(Words& words, std::string_view flag);

// "select zone=a", "in zone=a|b", "tolerate dedicated=ml:NoSchedule", "charge cpu=1" and so on.
PodSet read_pod_set(Words words);
Sizes read_sizes(const std::string& text, const std::string& cooldown = "");
GangSpec read_gang(const Words& words);
NodeSpec read_node(const Words& words);
Taint read_taint(const std::string& text);

// Fails the test with the words that nobody understood.
void expect_empty(const Words& words, std::string_view what);

}  // namespace codeflare::sched::scenario
