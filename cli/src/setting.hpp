#pragma once

#include "output.hpp"

#include "headroom/io/training_options.hpp"

namespace headroom::cli {

using io::add_assumptions;
using io::make_question;
using io::open_catalog;
using io::read_calibration;
using io::read_setting;
using io::refuse_other_machine;
using io::require_question;
using io::Setting;
using io::setting_options;
using io::strategy_group;
using io::strategy_options;

} // namespace headroom::cli
