#pragma once

#include "headroom/quantity.hpp"

#include <array>
#include <string>
#include <vector>

namespace headroom::training {

/// Matrices of a feed-forward block: two, or three of which one gates (SwiGLU and alike).
enum class FeedForward { plain, gated };
/// Layer norm centres and scales, RMS norm only scales.
enum class Normalisation { layer, rms };
/// Encoding of positions: none, a table added to the embedding, or inside of attention.
enum class Positions { none, learned, rotary, alibi };

/// Routed feed-forward blocks. `experts == 0` means that every layer is dense.
struct MixtureOfExperts {
    int experts = 0;        ///< routed ones of a layer
    int top_k = 0;          ///< of them that a token passes
    int ffn = 0;            ///< width of one expert
    int shared_experts = 0; ///< that every token passes
    int shared_ffn = 0;     ///< width of one shared expert; 0: as a routed one
    int first_dense = 0;    ///< layers before the first routed one
    int every = 1;          ///< from there on each `every`-th layer is routed (the last of each group)
    int group_limit = 0;    ///< groups of ranks that a token's experts may lie in; 0: any (node-limited routing)
    int latent = 0;         ///< width that tokens are projected to before they are routed; 0: as they are
    bool router_bias = false;
    bool shared_gate = false; ///< a gate of one output scales the shared experts (Qwen)
};

/// Multi-head latent attention: queries, keys and values pass through a narrow latent vector. Off with kv_rank 0.
struct LatentAttention {
    int q_rank = 0;  ///< 0: queries are projected directly
    int kv_rank = 0; ///< rank of the cached keys and values
    int nope_dim = 0, rope_dim = 0, value_dim = 0;
    [[nodiscard]] bool used() const { return kv_rank > 0; }
};

/// Recurrence of a layer whose cost grows linearly with the sequence.
enum class ScanKind {
    mamba2,      ///< selective state space, a decay a head
    mamba1,      ///< selective state space, a decay a channel
    gated_delta, ///< gated delta rule (Qwen3-Next)
    kimi_delta,  ///< delta rule with a decay a channel, from a narrow projection (Kimi Linear)
    lightning,   ///< linear attention with a fixed decay and an output gate (MiniMax)
    convolution, ///< a short gated convolution, no state (LFM2)
};

/// A layer with a recurrence over the sequence. Off with 0 heads.
struct StateSpace {
    ScanKind kind = ScanKind::mamba2;
    int heads = 0, head_dim = 0; ///< their product is the inner width; of the values in linear attention
    int groups = 1;      ///< that share input and output matrices; heads of queries and keys in linear attention
    int state = 0;       ///< numbers a channel keeps; dimension of a key in linear attention
    int convolution = 4; ///< taps of the causal convolution in front; 0: none
    int rank = 0;        ///< width of the narrow projection of the step size or the decay
    bool projection_bias = false; ///< of the products in and out
    bool convolution_bias = true;
    bool gated_norm = true;       ///< a norm in front of the product out
    bool parameter_norms = false; ///< norms of step size, input and output matrices (Jamba)
};

/// Sparse attention: an indexer scores all keys for a query, the core reads the best ones. Off with 0 heads.
struct SparseIndexer {
    int heads = 0, head_dim = 0;
    int top_k = 0; ///< keys that the core reads
};

/// Gate on the output of attention: none, a number a head, or a number an element.
enum class OutputGate { none, head, element };

/// Mixing of the tokens of a sequence in a block.
enum class Mixer { none, attention, latent_attention, state_space, attention_and_scan };
constexpr bool attends(Mixer mixer) { return mixer != Mixer::none && mixer != Mixer::state_space; }
constexpr bool scans(Mixer mixer) { return mixer == Mixer::state_space || mixer == Mixer::attention_and_scan; }
/// Part of a block that mixes the features of a token.
enum class Channel { none, dense, experts };

/// One kind of block.
struct BlockKind {
    Mixer mixer = Mixer::attention;
    Channel channel = Channel::dense;
    int window = 0;       ///< keys that a query sees at most; 0: as far as the sequence reaches
    bool causal = true;   ///< a query sees no later token
    bool cross = false;   ///< attends to the encoder's output besides
    bool decoder = false; ///< works on the decoder's sequence
    int heads = 0, kv_heads = 0, head_dim = 0, ffn = 0; ///< of these layers; 0: the model's
    bool keys_are_values = false;                       ///< one projection for keys and values
    bool borrows_keys = false;                          ///< keys and values are those of an earlier layer
    bool sinks = false;                                 ///< has sinks where the model as a whole has none
    bool operator==(BlockKind const&) const = default;
};

/// A kind of block and how many of it a model has.
struct BlockRun {
    BlockKind kind;
    int count = 0;
};

/// A layer of a network that is not a stack of blocks: convolutions, recurrent cells and alike.
enum class OperatorKind {
    convolution,   ///< kernel x kernel_width over in / groups channels
    linear,        ///< a matrix product at every position
    recurrent,     ///< an LSTM layer: `positions` dependent steps
    normalisation, ///< scale and shift of `out` channels
    elementwise,   ///< activation, sum, pooling: reads and writes only
    embedding,     ///< a table of `in` rows
};
struct Operator {
    std::string name;
    OperatorKind kind = OperatorKind::convolution;
    int repeats = 1;
    int in = 0, out = 0;              ///< channels, or rows and width of a table
    int kernel = 1, kernel_width = 0; ///< taps; kernel_width 0: square
    int height = 1, width = 0;        ///< of the output; width 0: square
    int groups = 1;
    double inputs = 1.0; ///< elements read for each one written (a sum reads two, a pooling more)
    bool bias = false;
    bool trained = true;
    bool backward = true; ///< false: no operator before it is trained either, so that no gradient reaches it
    bool shared = false;  ///< its weights are those of an operator before it, which counts them
    [[nodiscard]] double positions() const { return static_cast<double>(height) * (width > 0 ? width : height); }
};

/// A property of a model that its description leaves open, and the choice made.
struct Guess {
    std::string field, value, reason;
    bool structural = true; ///< it shapes layers
};

/// Bounds of the number of parameters, relative to the count.
struct CountRange {
    double low = 1.0, high = 1.0;
    [[nodiscard]] bool open() const { return low < 1.0 || high > 1.0; }
};

/// Model that is trained: transformer or hybrid blocks, or a list of operators.
struct Model {
    std::string name;
    int layers = 0;
    int hidden = 0;
    int heads = 0;
    int kv_heads = 0; ///< groups of queries that share keys and values; heads without grouping
    int head_dim = 0;
    int value_dim = 0; ///< of a head's values; 0: as queries and keys
    int ffn = 0;       ///< width between the feed-forward matrices of dense blocks
    int vocab = 0;
    int max_positions = 0;
    int extra_positions = 0; ///< rows of the position table beyond max_positions (OPT has 2)
    int norms_per_layer = 2;
    FeedForward feed_forward = FeedForward::gated;
    std::string activation = "silu";
    Normalisation norm = Normalisation::rms;
    bool norm_bias = false;
    bool norm_affine = true; ///< norms have weights (those of OLMo have none)
    Positions positions = Positions::rotary;
    bool tied_embeddings = false;
    bool qkv_bias = false;
    bool out_bias = false;
    bool mlp_bias = false;
    bool head_bias = false;
    bool key_bias = true;       ///< with qkv_bias: keys have one, too
    bool qk_norm = false;       ///< queries and keys are normalised, head by head
    bool qk_norm_whole = false; ///< with qk_norm: each norm has a weight for every feature of all heads
    OutputGate output_gate = OutputGate::none;
    int per_layer_input = 0;     ///< width of a second embedding that every layer adds (Gemma 3n); 0: none
    bool sinks = false;          ///< a learned logit a head that absorbs attention (GPT-OSS)
    bool parallel_block = false; ///< attention and feed-forward side by side; timed as one after the other
    bool embedding_norm = false;
    bool final_norm = true;
    bool causal = true; ///< a query sees no later token; false for encoders
    MixtureOfExperts moe;
    LatentAttention latent;
    SparseIndexer indexer;
    StateSpace state_space;
    int window = 0;              ///< keys that a query of a sliding-window layer sees; 0: no such layers
    bool chunked = false;        ///< `window` is the length of chunks that attention does not cross
    int full_every = 0;          ///< with a window: each `full_every`-th layer sees everything; 0: none does
    std::string pattern;         ///< hybrids, a letter a layer: M state space, * attention, - dense, E experts
    std::vector<BlockKind> plan; ///< layers one by one, where window, pattern and moe do not give them; else empty
    std::vector<int> layers_per_stage; ///< of a pipeline, as the user states them; empty: `stage_layers`
    int prediction_layers = 0;         ///< further blocks and heads that predict later tokens (MTP)
    int encoder_layers = 0;          ///< of `layers`; the others are decoder blocks with cross attention. 0: no encoder
    double decoder_length = 1.0;     ///< decoder's sequence over the encoder's
    bool vision_left_out = false;    ///< the text part of a larger model: its vision tower is not counted
    std::vector<Guess> guesses;      ///< made when it was read
    CountRange range;                ///< of its parameters, where it was guessed what it is
    int memory_tokens = 0;           ///< kept from the sequence before and attended to (Transformer-XL)
    double head_share = 1.0;         ///< share of the tokens that reach the output projection
    bool has_head = true;            ///< false: hidden vectors are put out
    double other_parameters = 0.0;   ///< counted, but without work of their own: poolers, segment tables ...
    std::vector<Operator> operators; ///< not empty: the model is this list and has no blocks
    int nominal_length = 0;          ///< tokens of a sequence where none is stated; 1 for images
    int nominal_batch = 0;           ///< samples an accelerator where none is stated, in 16 bits
    double nominal_fill = 1.0;       ///< share of its usual data that is not padding
    bool batched_in_tokens = false;  ///< its frameworks count a batch in tokens, not samples
    /// Whether a sample is no sequence of tokens, but one picture: then tokens are called samples.
    [[nodiscard]] bool works_on_samples() const { return !operators.empty() && nominal_length <= 1; }
    /// Causal blocks alone, without an encoder or inputs of other lengths: the models whose runs move the constants.
    [[nodiscard]] bool is_decoder() const {
        return operators.empty() && causal && encoder_layers <= 0 && memory_tokens <= 0;
    }
};

/// The kinds of blocks of a model in the order in which they first appear; counts add up to `layers`. A model cut
/// short keeps the first layers of its pattern. Prediction blocks are not among them: they are as the last block.
std::vector<BlockRun> block_runs(Model const& model);
/// The kind of every block, first to last; none for a list of operators.
std::vector<BlockKind> block_kinds(Model const& model);
/// The kind of the last block: prediction blocks are alike.
BlockKind last_block(Model const& model);

/// Parameters by where they live, exactly (embeddings counted once when tied).
struct ParameterCount {
    double layer = 0.0;     ///< one block, the mean of all: everything
    double experts = 0.0;   ///< of it, the part in routed experts
    double embedding = 0.0; ///< token (and position) table, embedding norm, tables of positions
    double head = 0.0;      ///< output projection; zero when tied
    double final_norm = 0.0;
    double prediction = 0.0;         ///< blocks that predict later tokens; not in `total`, as people quote it
    double prediction_experts = 0.0; ///< of it, the part in routed experts
    double total = 0.0;
    double active = 0.0; ///< touched by one token
};

/// Counts a model's parameters.
///
///     block  = mixer + channel + norms
///     mixer  = h a d + 2 h g d + a d h                                                       attention
///            = h r_q + r_q a (d_n + d_r) + h (r_kv + d_r) + r_kv a (d_n + d_v) + a d_v h     latent attention
///            = h (2 c + 2 G n + a) + (c + 2 G n)(k + 1) + 3 a + c + c h,  c = a d            state space
///            (`scan_sizes` has the other recurrences; an indexer adds r_q I d_I + h d_I + 2 d_I + h I)
///     channel = M h f (M = 3 gated, 2 plain); with experts of each expert, the shared ones and a router h E
///     total  = blocks + V h (+ P h learned positions) + V h (untied head) + final norm + others
///
/// An operator list is counted operator by operator: k k' (in / groups) out, 4 out (in + out) of an LSTM ...
/// Source:     [MegatronLM], [Brown2020], [DeepSeek2024], [DaoGu2024]
ParameterCount count_parameters(Model const& model);

/// Parameters of the first blocks of a model, dense ones and routed experts.
struct BlockSum {
    double dense = 0.0, experts = 0.0;
};

/// Parameters of the first 0, 1, 2 ... blocks of a model; empty where all blocks are alike.
std::vector<BlockSum> block_sums(Model const& model);

/// Parameters of one block of a kind.
struct BlockParameters {
    double all = 0.0;
    double routed = 0.0; ///< in routed experts
    double active = 0.0; ///< touched by one token
};
BlockParameters block_parameters(Model const& model, BlockKind const& kind);

/// Parameters of one operator, its repeats included.
double parameters_of(Operator const& one);

/// Share of the parameters of a list of operators that is trained; 1 of any other model.
double trained_share_of_operators(Model const& model);

/// Weights that one token multiplies with in a block of this kind, and the forward operations of its attention or
/// scan core for one query that sees `keys` keys.
struct BlockWork {
    double matrix = 0.0; ///< weights of its matrices that a token passes
    double core = 0.0;   ///< operations a token, forward
};
/// `cross_keys` is the length of the encoder's sequence that a block with cross attention reads.
BlockWork block_work(Model const& model, BlockKind const& kind, double keys, double cross_keys = 0.0);

/// Keys that a query sees on average in a sequence of s tokens.
///
///     causal        s / 2;  with a window w < s: w - w^2 / (2 s)
///     not causal    s;      with a window: min(s, w)
///     chunks        of w < s: as of sequences with the length of a chunk, the last one shorter
///
/// plus the tokens of memory. Packed documents of mean length l (weighted by their tokens) put l in the place of s.
double mean_keys(Model const& model, BlockKind const& kind, double sequence_length);

/// Dimension of a head as the attention core multiplies it: the mean of queries' and values'.
double core_head_dim(Model const& model, BlockKind const& kind = {});

/// Attention of one kind of block: the model's dimensions unless the kind has others.
struct AttentionShape {
    double heads = 0.0, kv_heads = 0.0, head_dim = 0.0, value_dim = 0.0;
};
AttentionShape attention_shape(Model const& model, BlockKind const& kind);
/// Feed-forward width of a dense block of this kind.
int ffn_of(Model const& model, BlockKind const& kind);

/// A matrix product between those into and out of a scan.
struct InnerProduct {
    double in = 0.0, out = 0.0;
};
/// Widths and counts of a scan layer; h hidden, c inner width, q = groups x state, k taps, a heads, r rank.
///
///     projected  2 c + 2 q + a (Mamba-2), 2 c (Mamba-1), 2 c + 2 q + 2 a (gated delta), c + 2 q + a + 2 r (Kimi
///                delta), 4 c (lightning), 3 c (convolution)
///     convolved  c + 2 q, c, c + 2 q, c + 2 q, 0, c
///     inner      none, but c x (r + 2 n) and r x c (Mamba-1), r x q and r x c (Kimi delta)
///
/// Source:     [DaoGu2024], [Gu2023], [Yang2024]
struct ScanSizes {
    double inner = 0.0;     ///< into the product out
    double projected = 0.0; ///< out of the product in
    double convolved = 0.0; ///< channels of the convolution
    std::array<InnerProduct, 2> between = {};
    double extras = 0.0;     ///< parameters of convolution, decays, biases and norms
    double state = 0.0;      ///< numbers that a channel of the inner width keeps
    double operations = 0.0; ///< of the scan, a token, forward
};
ScanSizes scan_sizes(Model const& model);

/// Share of the attention core in a FLOP count.
enum class AttentionConvention {
    full,   ///< every query against every key: PaLM, MPT, torchtitan
    causal, ///< the half that a causal mask leaves: Megatron Core since 2025
    none,   ///< 6 N T as a whole, N every parameter that a token touches (embeddings, norms too)
};
std::string_view name_of(AttentionConvention convention);

/// Forward floating-point operations of one sequence, split as people quote them.
struct SequenceFlops {
    Flops matrix;    ///< projections and feed-forward
    Flops attention; ///< scores and context, by the convention asked for
    Flops head;      ///< output projection
    [[nodiscard]] Flops total() const { return matrix + attention + head; }
};

/// Operations of the forward pass over one sequence of s tokens.
///
///     matrix    = s 2 (weights that a token passes in all blocks)
///     attention = s 4 a d (keys that a query sees), all keys in the window when counted full; scans 7 c n
///     head      = s 2 h V (share of tokens that reach it)
///
/// Holds for:  matrix products and cores; element-wise work is not counted. With experts, those that a token
///             touches. Prediction blocks and their heads count, as they are trained.
/// Source:     [MegatronLM], [ScalingBook]
SequenceFlops forward_flops(Model const& model, int sequence_length, AttentionConvention convention);

/// FLOPs of a forward pass over `tokens` tokens of which each sees documents of `attended` tokens (weighted by tokens):
/// packed or unpadded sequences. Linear parts count tokens, attention the sum of squares of the documents.
SequenceFlops forward_flops(Model const& model, double tokens, double attended, AttentionConvention convention);

} // namespace headroom::training
