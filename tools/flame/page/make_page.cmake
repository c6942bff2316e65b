# The page of `heapprof flame`: installs with npm what package-lock.json names, and has build.mjs join the parts.
#
#   cmake -DNPM=… -DNODE=… -DSOURCE=… -DOUTPUT=… -P make_page.cmake
#
# Writes page.head, page.tail and page.missing to OUTPUT. Without npm, node or a registry the build goes on: then
# page.missing says what was missing, and the two others are empty.

function(give_up why)
  file(WRITE ${OUTPUT}/page.head "")
  file(WRITE ${OUTPUT}/page.tail "")
  file(WRITE ${OUTPUT}/page.missing "${why}")
  message("heapprof flame will make no HTML: ${why}. Run cmake again once that has changed.")
endfunction()

# What is installed for this lock file already stays: npm is asked only when the lock file changes.
function(install result)
  file(SHA256 ${SOURCE}/package-lock.json lock)
  set(installed "")
  if(EXISTS ${OUTPUT}/npm/installed)
    file(READ ${OUTPUT}/npm/installed installed)
  endif()
  if(installed STREQUAL lock)
    set(${result} 0 PARENT_SCOPE)
    return()
  endif()
  file(REMOVE_RECURSE ${OUTPUT}/npm)
  file(COPY ${SOURCE}/package.json ${SOURCE}/package-lock.json DESTINATION ${OUTPUT}/npm)
  execute_process(
    COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error
            --fetch-retries=1 --fetch-retry-mintimeout=500 --fetch-retry-maxtimeout=1000 --fetch-timeout=30000
    WORKING_DIRECTORY ${OUTPUT}/npm RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text TIMEOUT 120)
  if(status EQUAL 0)
    file(WRITE ${OUTPUT}/npm/installed ${lock})
  else()
    message("${text}")
  endif()
  set(${result} "${status}" PARENT_SCOPE)
endfunction()

file(MAKE_DIRECTORY ${OUTPUT})
if(NOT NPM OR NOT NODE)
  give_up("npm and node were not found when it was built")
  return()
endif()
install(status)
if(NOT status EQUAL 0)
  give_up("npm could not install d3-flame-graph when it was built")
  return()
endif()
execute_process(COMMAND ${NODE} ${SOURCE}/build.mjs ${OUTPUT}/npm/node_modules ${OUTPUT} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${SOURCE}/build.mjs failed")
endif()
file(WRITE ${OUTPUT}/page.missing "")
