// SPDX-License-Identifier: Apache-2.0
#ifndef KANE_DYNAMICS_CPP__LIBRARY_PATH_HPP_
#define KANE_DYNAMICS_CPP__LIBRARY_PATH_HPP_

#include <algorithm>
#include <string>

#include <ament_index_cpp/get_package_share_directory.hpp>

namespace kane_dynamics
{

/// Return the path of a file, also of package://<package>/<path in its share directory>.
inline std::string library_path(const std::string & path)
{
  const std::string scheme = "package://";
  if (path.rfind(scheme, 0) != 0) {
    return path;
  }
  const auto slash = std::min(path.find('/', scheme.size()), path.size());
  const auto package = path.substr(scheme.size(), slash - scheme.size());
  return ament_index_cpp::get_package_share_directory(package) + path.substr(slash);
}

}  // namespace kane_dynamics

#endif  // KANE_DYNAMICS_CPP__LIBRARY_PATH_HPP_
