# Precompiled standard headers. CMake's own precompiled headers make one per target and hold the path of the build folder, so no two
# checkouts would share a compiler cache. Here there is one per build folder, made outside of ccache, and ccache is told what
# it means by a .sum file beside it (CCACHE_PCH_EXTSUM): the hash of its text, equal in every checkout; flags are those of each file that uses it.

option(CODEFLARE_PRELUDE "compile the usual standard headers once" ON)

# codeflare_prelude(NAME HEADER): the target `NAME` that makes NAME.pch
function(codeflare_prelude name header)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${config}}")
  list(APPEND flags -std=c++23)
  set(options "$<TARGET_PROPERTY:codeflare_settings,INTERFACE_COMPILE_OPTIONS>")
  set(pch ${CMAKE_BINARY_DIR}/${name}.pch)
  add_custom_command(OUTPUT ${pch}
    COMMAND ${CMAKE_CXX_COMPILER} ${flags} "${options}" -fpch-instantiate-templates -x c++-header ${header} -o ${pch}
    DEPENDS ${header} ${CMAKE_SOURCE_DIR}/cmake/prelude.h
    COMMENT "Precompiling ${name}"
    COMMAND_EXPAND_LISTS VERBATIM)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -std=c++23 -E -P -x c++ ${header}
    OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(SHA256 hash "${text}")
  file(WRITE ${pch}.sum "${CMAKE_CXX_COMPILER_VERSION} ${hash}\n")
  add_custom_target(${name} DEPENDS ${pch})
endfunction()

# codeflare_use_prelude(TARGET NAME)
function(codeflare_use_prelude target name)
  if(CODEFLARE_PRELUDE)
    target_compile_options(${target} PRIVATE "SHELL:-include-pch ${CMAKE_BINARY_DIR}/${name}.pch")
    add_dependencies(${target} ${name})
  endif()
endfunction()
