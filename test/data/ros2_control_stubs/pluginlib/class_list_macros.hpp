// SPDX-License-Identifier: Apache-2.0
// A stub: the macro only says that the class can be made as its base.
#pragma once
#include <memory>
#define PLUGINLIB_EXPORT_CLASS(Derived, Base) \
  std::unique_ptr<Base> make_plugin(Base *) {return std::make_unique<Derived>();}
