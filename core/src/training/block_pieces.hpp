#pragma once

#include "headroom/training/operation.hpp"

#include <string_view>

namespace headroom::training {

/// Sizes of one block on one rank, named as in the literature: T tokens, h, a/t heads ...
struct BlockSizes {
    double tokens, hidden, query_width, kv_width, value_width, output_width, ffn, heads, sequences;
    double branches; ///< products side by side into the feed-forward width
    double element;  ///< bytes of an activation element
};

/// Sizes of a routed layer on one rank: its slice of the tokens, and the experts that it holds.
struct ExpertSizes {
    double tokens;     ///< of this rank before they are sent
    double width;      ///< of a token as it is sent
    double per_expert; ///< tokens that one expert works on, on the fullest rank
    double experts;    ///< held by a rank
    double ffn;        ///< of one expert on one rank
    double shared_ffn; ///< of all shared experts together, on one rank
    double copies;     ///< experts that a token goes to, on the fullest rank
};

ExpertSizes expert_sizes(Model const& model, LayerShape const& shape, BlockSizes const& size);

/// Operations that the passes of a block are composed of: matrix products, memory traffic and communication.
class BlockPieces {
protected:
    BlockPieces(LayerProgram& program, Model const& model, BlockKind const& kind, LayerShape const& shape,
                Framework const& framework);

    [[nodiscard]] bool has_core() const;
    [[nodiscard]] double output_width() const;
    /// Reads and writes of h-wide tensors per token: a norm (read, write) and a residual sum (read two, write one)
    /// for each part of a block; of a norm's reads and the sum before it one in two is shared.
    [[nodiscard]] double hidden_bytes() const;
    /// Rotary positions or bias on queries and keys, and the layout change of all three: read, write.
    [[nodiscard]] double attention_bytes() const;
    [[nodiscard]] double activation_bytes(double ffn) const;
    void memory(std::string_view name, Phase phase, MemoryClass kind, double bytes);
    void product(std::string_view name, Phase phase, double out, double in);
    void product_over(std::string_view name, Phase phase, double tokens, double out, double in);
    /// Gradient of the input (T x in, inner dimension out) and of the weight (in x out, inner T).
    void gradient_products(std::string_view name, double out, double in);
    void gradient_products_over(std::string_view name, double tokens, double out, double in);
    void collective(std::string_view name, Phase phase, network::Collective kind, Traffic traffic, double bytes,
                    double times = 1.0);
    [[nodiscard]] double hidden_vector() const;
    /// With sequence parallelism the input is gathered before a column-parallel product.
    void gather(std::string_view name, Phase phase);
    /// Inputs are kept split along the sequence; the weight gradient needs them whole. Frozen weights have none.
    /// Source: [Korthikanti2022]
    void gather_kept_input(std::string_view name);
    /// Partial sums of a row-parallel product: reduced to all ranks, or scattered along the sequence.
    void reduce(std::string_view name, Phase phase);
    /// Keys and values of the rest of the sequence: gathered whole, or passed round rank by rank.
    void exchange_keys(std::string_view name, Phase phase, double times);
    void exchange_of(std::string_view name, Phase phase, double of_a_rank, double times);
    /// Heads for tokens: queries, keys and values before the core, its output after.
    void trade_heads(std::string_view name, Phase phase, bool inputs);
    /// Context exchange of cross attention, whose keys and values are those of the encoder's tokens.
    void trade_cross(std::string_view name, Phase phase, bool inputs);
    void trade_of(std::string_view name, Phase phase, double bytes);
    [[nodiscard]] double cross_key_bytes() const;
    /// Conversions of linear inputs to 8 bits (16-bit read, 8-bit write of the matrix and its transpose), and LoRA: the traffic of its
    /// inputs and outputs, and its products at the rate of large ones, as one of equal FLOPs.
    void low_precision_and_adapters(Phase phase, double passes);
    [[nodiscard]] double converted_elements() const;
    /// Bytes that LoRA matrices move in fused kernels, a pass: inputs read, outputs read and written, in 16 bits.
    [[nodiscard]] double fused_lora_bytes() const;
    /// Bytes that LoRA matrices move in lines of PyTorch, a pass. Forward 21 for each element that goes in (a copy in 32 bits
    /// 6, dropout with its mask 9, a copy in 16 bits 6) and 12 for each that comes out (product 2, scale 4, sum 6);
    /// backward 29 for each gradient of an input (product 2, copies 12, dropout 9, sum 6) and 6 for each of an output.
    /// Matrices in 16 bits need no copies and half of the dropout: 7 for 21 (dropout 5, product 2), 15 for 29 (products 4,
    /// dropout 5, sum 6).
    [[nodiscard]] double eager_adapter_bytes(bool backward) const;
    /// Traffic of DoRA, see `magnitude_cost`.
    void magnitudes(Phase phase);
    /// Elements of the matrices of attention and of a dense feed-forward part on a rank.
    [[nodiscard]] double matrix_elements() const;

    LayerProgram& program_;
    Model const& model_;
    BlockKind const& kind_;
    LayerShape const& shape_;
    Framework const& framework_;
    BlockSizes size_;
    ScanSizes scan_;
};

} // namespace headroom::training
