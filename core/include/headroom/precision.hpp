#pragma once

#include <optional>
#include <string_view>

namespace headroom {

/// The number format that matrix products of a training step compute in, from wide to narrow. MXFP8 and NVFP4 scale
/// blocks of elements; FP8 scales whole tensors.
enum class Precision { fp32, tf32, fp16, bf16, fp8, mxfp8, nvfp4 };

/// The name used on the command line and in results.
std::string_view name_of(Precision precision);

/// Reads what people write: "bf16", "mixed(fp16)", "amp_bf16", "FP8-CS", "MXFP8", "NVFP4" ... Words that name no
/// format ("mixed", "amp", "CS") are passed over; of several formats the narrowest counts; "FP8-MX" is mxfp8.
std::optional<Precision> precision_from(std::string_view text);

/// Bytes of one element that a matrix product reads: 8- and 4-bit formats read less than they write.
double operand_bytes(Precision precision);

/// Bytes of one activation or working-weight element (8-bit formats keep activations in bf16).
double element_bytes(Precision precision);

} // namespace headroom
