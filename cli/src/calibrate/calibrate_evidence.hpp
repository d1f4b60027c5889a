#pragma once

#include "calibrate/calibrate_report.hpp"

#include "headroom/io/benchmark_log.hpp"
#include "headroom/measurement.hpp"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom::cli {

/// How evidence is read.
struct CalibrateQuestion {
    std::vector<std::string> evidence;
    std::filesystem::path store;        ///< of measurements; empty: none is asked
    std::vector<std::string> campaigns; ///< of it: numbers, "last", or kinds
    io::LogQuestion log; ///< what logs may leave out; its system and nodes hold for traces and campaigns too
    std::optional<Accelerator> accelerator;
};

/// Reads all evidence: folders and files of traces together as one set; benchmark logs; calibration files (TOML);
/// campaigns of a store. Joins the links;
/// `join_constants` is for when all constants are known.
/// Errors: InputError{unreadable} or {insufficient} where a piece is none of these, or gives nothing.
CalibrateAnswer read_evidence(CalibrateQuestion const& question, io::Catalog const& catalog);

/// A calibration file: all that it states is kept, or said to be left out.
void take_calibration(std::string const& name, CalibrateQuestion const& question, CalibrateAnswer& answer);

/// The campaigns that are meant, each once, in the order in which they are named.
/// Errors: InputError{unreadable} where there is no such store; {usage} for an unknown campaign; {insufficient} for none.
std::vector<Campaign> chosen_campaigns(CalibrateQuestion const& question);
/// Campaigns by their kind: rows of collectives, constants and machines, steps.
void take_campaigns(std::span<Campaign const> campaigns, CalibrateQuestion const& question, io::Catalog const& catalog,
                    CalibrateAnswer& answer);

/// Constants that several sources state, and links: by the best provenance, measured ones joined (`fit::pool`).
void join_constants(CalibrateAnswer& answer);
void fit_and_join_links(CalibrateQuestion const& question, CalibrateAnswer& answer);

/// "2026-11-22"; empty for 0.
std::string day_of(std::int64_t since_1970_ns);

} // namespace headroom::cli
