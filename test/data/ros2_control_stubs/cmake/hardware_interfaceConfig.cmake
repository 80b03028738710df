# SPDX-License-Identifier: Apache-2.0
# A stub: what a generated CMakeLists.txt asks of this package.
add_library(hardware_interface::hardware_interface INTERFACE IMPORTED)
target_include_directories(hardware_interface::hardware_interface INTERFACE ${CMAKE_CURRENT_LIST_DIR}/..)
