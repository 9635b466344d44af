#include "apiserver/kinds/cron_schedule.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

namespace codeflare::apiserver {
namespace {

TEST(CronSchedule, takes_what_people_write) {
  for (std::string_view schedule :
       {"* * * * *", "*/5 * * * *", "0 0 1 1 ?", "0 22 * * MON-Fri", "5,10-20/5 8-18 1 jan,Dec 0",
        "30/10 * * * *", "@hourly", "@annually", "@every 1h30m", "  1\t2  3 4 5  ", "+1 * * * *",
        ", * * * *"}) {
    EXPECT_EQ(schedule_complaint(schedule), "") << schedule;
  }
}

TEST(CronSchedule, says_what_is_wrong_in_the_words_of_the_real_server) {
  for (const auto& [schedule, complaint] :
       std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"now", "expected exactly 5 fields, found 1: [now]"},
           {"* * * * * *", "expected exactly 5 fields, found 6: [* * * * * *]"},
           {"60 * * * *", "end of range (60) above maximum (59): 60"},
           {"* * 0 * *", "beginning of range (0) below minimum (1): 0"},
           {"5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"},
           {"*/0 * * * *", "step of range should be a positive number: */0"},
           {"*/-1 * * * *", "negative number (-1) not allowed: -1"},
           {"1-2-3 * * * *", "too many hyphens: 1-2-3"},
           {"1/2/3 * * * *", "too many slashes: 1/2/3"},
           {"* * * * funday",
            "failed to parse int from funday: strconv.Atoi: parsing \"funday\": invalid syntax"},
           {"5- * * * *", "failed to parse int from : strconv.Atoi: parsing \"\": invalid syntax"},
           {"99999999999999999999 * * * *",
            "failed to parse int from 99999999999999999999: strconv.Atoi: parsing "
            "\"99999999999999999999\": value out of range"},
           {"@fortnightly", "unrecognized descriptor: @fortnightly"},
           {"@every day", "failed to parse duration @every day: time: invalid duration \"day\""},
       }) {
    EXPECT_EQ(schedule_complaint(schedule), complaint) << schedule;
  }
}

TEST(CronSchedule, time_zones_look_like_names_of_files) {
  for (std::string_view zone : {"UTC", "Europe/Berlin", "America/Port-au-Prince", "Etc/GMT+5"}) {
    EXPECT_EQ(time_zone_complaint(zone), "") << zone;
  }
  EXPECT_EQ(time_zone_complaint(""), "timeZone must be nil or non-empty string");
  EXPECT_EQ(time_zone_complaint("../etc"), "unknown time zone ../etc");
  EXPECT_EQ(time_zone_complaint("Europe//Berlin"), "unknown time zone Europe//Berlin");
  EXPECT_TRUE(time_zone_complaint("local").starts_with("timeZone must be an explicit time zone"));
}

}  // namespace
}  // namespace codeflare::apiserver
