# SPDX-License-Identifier: Apache-2.0
# A stub: what a generated CMakeLists.txt asks of this package.
add_library(rclcpp::rclcpp INTERFACE IMPORTED)
target_include_directories(rclcpp::rclcpp INTERFACE ${CMAKE_CURRENT_LIST_DIR}/..)
