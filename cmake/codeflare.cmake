# Compiler settings and the functions every folder uses to declare its library, tests and fuzzers.

option(CODEFLARE_WARNINGS_AS_ERRORS "treat warnings as errors" OFF)
option(CODEFLARE_COVERAGE "instrument for source-based coverage" OFF)
option(CODEFLARE_FUZZERS "instrument for libFuzzer and offer the fuzzers" OFF)
option(CODEFLARE_FUZZ "nothing but the fuzzers" OFF)
option(CODEFLARE_RELEASE_EDITION "make codeflare itself the release edition; the target codeflare-release always is" OFF)
option(CODEFLARE_STATIC "link the program without shared libraries" OFF)
set(CODEFLARE_SANITIZE "" CACHE STRING "comma-separated sanitizers, empty for none")

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_SOURCE_DIR}/tools/ccache)
endif()

if(CODEFLARE_STATIC)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  set(Boost_USE_STATIC_LIBS ON)
  set(OPENSSL_USE_STATIC_LIBS ON)
endif()
find_package(Boost 1.81 REQUIRED COMPONENTS json)
find_package(OpenSSL 3 REQUIRED)
find_package(Threads REQUIRED)
find_package(GTest REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)

# Everything below applies to our own targets only.
add_library(codeflare_settings INTERFACE)
# Tests, examples and benchmarks include each other from the root: "tests/sim/...".
target_include_directories(codeflare_settings INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR})
target_compile_options(codeflare_settings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Woverloaded-virtual -Wnon-virtual-dtor -Wthread-safety -fno-omit-frame-pointer -fPIC -pthread
  # Naming some members of a struct and leaving the rest at their defaults is what {.name = ...} is for.
  -Wno-missing-designated-field-initializers
  $<$<BOOL:${CODEFLARE_WARNINGS_AS_ERRORS}>:-Werror>
  # __FILE__ and debug lines read "src/base/error.h" wherever the checkout is; the second form is what ccache passes on.
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}/= -ffile-prefix-map=../../= -ffile-compilation-dir=.
  # Line tables are enough for sanitizer reports and keep objects and links small.
  $<$<CONFIG:Debug>:-O1 -gline-tables-only>)
target_link_options(codeflare_settings INTERFACE -fuse-ld=lld
  $<$<CONFIG:Release>:-Wl,--gc-sections -Wl,--icf=safe>)
target_compile_options(codeflare_settings INTERFACE
  $<$<CONFIG:Release>:-ffunction-sections -fdata-sections>)

if(CODEFLARE_SANITIZE)
  # clang 19 emits invalid assembly for coroutines under -fsanitize=function. The address sanitizer sees what null, object-size, vptr and
  # pointer-overflow would, at run time and without a quarter more of compile time.
  set(flags -fsanitize=${CODEFLARE_SANITIZE} -fno-sanitize=function,null,object-size,pointer-overflow,vptr -fno-sanitize-recover=all)
  target_compile_options(codeflare_settings INTERFACE ${flags})
  target_link_options(codeflare_settings INTERFACE ${flags})
  if(CODEFLARE_SANITIZE MATCHES address AND NOT CODEFLARE_FUZZ)
    # Functions with many accesses check them by calls: as much safety for a tenth less of compile time, and short functions stay fast.
    target_compile_options(codeflare_settings INTERFACE -mllvm -asan-instrumentation-with-call-threshold=30)
  endif()
endif()
if(CODEFLARE_COVERAGE)
  target_compile_options(codeflare_settings INTERFACE -fprofile-instr-generate -fcoverage-mapping)
  target_link_options(codeflare_settings INTERFACE -fprofile-instr-generate -fcoverage-mapping)
endif()

# Only what fuzzers explore counts its branches for them: elsewhere that would be a tenth of the compile time for nothing. These are the
# parts of -fsanitize=fuzzer-no-link, which itself would need a prelude of its own.
set(CODEFLARE_EXPLORED)
if(CODEFLARE_FUZZERS)
  set(CODEFLARE_EXPLORED -fsanitize-coverage=inline-8bit-counters,indirect-calls,trace-cmp,pc-table,stack-depth)
  foreach(function bcmp memcmp strncmp strcmp strncasecmp strcasecmp strstr strcasestr memmem)
    list(APPEND CODEFLARE_EXPLORED -fno-builtin-${function})
  endforeach()
endif()
# Misaligned pointers come from casts of bytes, and those are in libraries of which fuzzers explore at least a part.
set(CODEFLARE_UNEXPLORED)
if(CODEFLARE_SANITIZE MATCHES undefined AND NOT CODEFLARE_FUZZ)
  set(CODEFLARE_UNEXPLORED -fno-sanitize=alignment)
endif()

# Optimising tests and what reads a command line takes half of their compile time and finds nothing.
set(CODEFLARE_UNOPTIMISED $<$<CONFIG:Debug>:-O0>)

include(prelude)
if(CODEFLARE_PRELUDE)
  codeflare_prelude(prelude ${CMAKE_SOURCE_DIR}/cmake/prelude.h)
  codeflare_prelude(prelude_cli ${CMAKE_SOURCE_DIR}/cmake/prelude_cli.h ${CODEFLARE_UNOPTIMISED})
  get_target_property(gtest_flags GTest::gtest INTERFACE_COMPILE_OPTIONS)
  codeflare_prelude(prelude_test ${CMAKE_SOURCE_DIR}/cmake/prelude_test.h ${gtest_flags} ${CODEFLARE_UNOPTIMISED})
endif()

# codeflare_unoptimised(TARGET PRELUDE SOURCES...): PRELUDE is prelude_test or prelude_cli, which are compiled alike.
function(codeflare_unoptimised target prelude)
  codeflare_use_prelude(${target} ${prelude})
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS ${CODEFLARE_UNOPTIMISED})
endfunction()

# codeflare_library(NAME SOURCES... [DEPENDS libs...] [PRIVATE_DEPENDS libs...] [COMMAND_LINE] [FUZZED | FUZZED_SOURCES sources...]): the
# last say what fuzzers explore, all of it or some. Only in libraries without either is alignment not checked.
function(codeflare_library name)
  cmake_parse_arguments(arg "COMMAND_LINE;FUZZED" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS;FUZZED_SOURCES" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC codeflare_settings ${arg_DEPENDS} PRIVATE ${arg_PRIVATE_DEPENDS})
  if(arg_COMMAND_LINE)
    codeflare_unoptimised(${name} prelude_cli ${arg_SOURCES})
  else()
    codeflare_use_prelude(${name} prelude)
  endif()
  if(arg_FUZZED)
    set(arg_FUZZED_SOURCES ${arg_SOURCES})
  endif()
  if(arg_FUZZED_SOURCES)
    set_property(SOURCE ${arg_FUZZED_SOURCES} APPEND PROPERTY COMPILE_OPTIONS ${CODEFLARE_EXPLORED})
  else()
    set_property(SOURCE ${arg_SOURCES} APPEND PROPERTY COMPILE_OPTIONS ${CODEFLARE_UNEXPLORED})
  endif()
endfunction()

# codeflare_test(NAME SOURCES... DEPENDS libs... [LABELS all] [TIMEOUT seconds] [COST seconds] [BUSY]): one test program, usually one per folder.
# Label `all` is for tests that need more than Debian's packages. The release preset builds test programs on request only. A BUSY one
# computes much itself (models, thousands of seeds) and is optimised like the code under test. COST, about what it takes, is for those longer than
# three quarters of a minute: ctest begins with them, so that none runs alone at the end.
function(codeflare_test name)
  cmake_parse_arguments(arg "BUSY" "TIMEOUT;COST" "SOURCES;DEPENDS;LABELS" ${ARGN})
  if(CODEFLARE_FUZZ)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  string(COMPARE EQUAL "${CMAKE_BUILD_TYPE}" Release exclude)
  set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ${exclude})
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS} GTest::gtest_main)
  if(arg_BUSY)
    codeflare_use_prelude(${name} prelude)
  else()
    codeflare_unoptimised(${name} prelude_test ${arg_SOURCES})
    set_property(SOURCE ${arg_SOURCES} APPEND PROPERTY COMPILE_OPTIONS ${CODEFLARE_UNEXPLORED})
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
  if(arg_COST)
    set_tests_properties(${name} PROPERTIES COST ${arg_COST})
  endif()
endfunction()

# codeflare_fuzzer(NAME SOURCES... DEPENDS libs...): built on request, by the target `fuzzers`; run by `./dev fuzz` and `./dev test --all`.
function(codeflare_fuzzer name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS" ${ARGN})
  if(NOT CODEFLARE_FUZZERS)
    return()
  endif()
  add_executable(${name} EXCLUDE_FROM_ALL ${arg_SOURCES} ${CMAKE_SOURCE_DIR}/src/base/env/internal/real_fuzz_guard.cc)
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS} cf_base)
  codeflare_use_prelude(${name} prelude)
  target_compile_options(${name} PRIVATE ${CODEFLARE_EXPLORED})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer -Wl,--wrap=LLVMFuzzerTestOneInput)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzzers)
  set_property(GLOBAL APPEND PROPERTY CODEFLARE_FUZZERS ${name})
endfunction()

# The names of all fuzzers, for `./dev fuzz`: one per line in fuzzers.txt.
function(codeflare_write_fuzzers)
  get_property(fuzzers GLOBAL PROPERTY CODEFLARE_FUZZERS)
  list(JOIN fuzzers "\n" lines)
  file(WRITE ${CMAKE_BINARY_DIR}/fuzzers.txt "${lines}\n")
  add_custom_target(fuzzers DEPENDS ${fuzzers})
endfunction()
if(CODEFLARE_FUZZERS)
  cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL codeflare_write_fuzzers)
endif()

# Texts of files in the program. OUTPUT, in the build folder, defines FUNCTION, which returns one
# table of TYPE in the order of FILES. Below BASE each entry is {"path", text}, else the text alone.
#   codeflare_embed(crd_texts.cc HEADER controllers/crds/crds.h NAMESPACE codeflare::controllers
#     FUNCTION "std::span<const std::string_view> crd_texts()" TYPE std::string_view FILES ${files})
function(codeflare_embed output)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADER;NAMESPACE;FUNCTION;TYPE;BASE" "FILES")
  set(table "")
  foreach(file IN LISTS arg_FILES)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    set(entry "R\"embedded(${text})embedded\"")
    if(arg_BASE)
      file(RELATIVE_PATH name ${arg_BASE} ${file})
      set(entry "{\"${name}\", ${entry}}")
    endif()
    string(APPEND table "    ${entry},\n")
  endforeach()
  set(code "#include \"${arg_HEADER}\"

namespace ${arg_NAMESPACE} {

${arg_FUNCTION} {
  static constexpr ${arg_TYPE} kTable[] = {
${table}  };
  return kTable;
}

}  // namespace ${arg_NAMESPACE}
")
  # Written only when it differs, so that nothing is compiled in vain.
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${output} CONTENT "@code@" @ONLY)
endfunction()
