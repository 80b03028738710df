# SPDX-License-Identifier: Apache-2.0
# A stub: what a generated CMakeLists.txt asks of this package.
add_library(pluginlib::pluginlib INTERFACE IMPORTED)
target_include_directories(pluginlib::pluginlib INTERFACE ${CMAKE_CURRENT_LIST_DIR}/..)
function(pluginlib_export_plugin_description_file category file)
  if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    message(FATAL_ERROR "no ${file}")
  endif()
  message(STATUS "plugins of ${category}: ${file}")
endfunction()
