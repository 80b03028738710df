# SPDX-License-Identifier: Apache-2.0
# A stub: what a generated CMakeLists.txt asks of this package.
add_library(rclcpp_lifecycle::rclcpp_lifecycle INTERFACE IMPORTED)
target_include_directories(rclcpp_lifecycle::rclcpp_lifecycle INTERFACE ${CMAKE_CURRENT_LIST_DIR}/..)
