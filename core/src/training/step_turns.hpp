#pragma once

namespace headroom::training {

/// What one stage of interleaved 1F1B does and sends in a step, all stages alike.
struct ChunksInTurn {
    double stages = 1.0, chunks = 1.0;
    double forward = 0.0, backward = 0.0;    ///< seconds of one pass of one chunk
    double hop = 0.0;                        ///< seconds of a transfer between stages
    double gather = 0.0, first_gather = 0.0; ///< weights of all chunks, and those that the first block waits for
    double reduce = 0.0, last_reduce = 0.0;  ///< gradients of all chunks, and those with nothing to run behind
    double early = 0.0;                      ///< share of a chunk's gradients that is sent within its pass
    double blocks = 1.0;                     ///< of a chunk
    double first_bucket = 0.0;               ///< seconds of a pass until gradients begin to leave
    double table = 0.0;                      ///< gradients of the embedding, which the first chunk has besides
    double kernels = 1.0, loss = 0.0;        ///< share of a pass that is kernels, what they lose beside traffic
    double adapter_forward = 0.0,
           adapter_backward = 0.0; ///< what others that have the adapter too add to passes, a share
    double hidden_forward = 0.0, hidden_backward = 0.0; ///< what of them hides, a share of passes
    double idle_forward = 0.0, idle_backward = 0.0;     ///< share of passes in which they wait for the host
    double adapter_hop = 0.0; ///< seconds of a transfer that has the adapter in common with them
};

/// What the traffic of a step adds to it: what the first stage shows itself, and what others are later by for theirs.
struct AddedInTurn {
    double shown = 0.0, waited = 0.0;
};

/// Weights are on their way from the begin of the step, chunk after chunk; each chunk has p forward passes before the next
/// one is needed. They slow whatever is the longest way through the stages as long as they last:
///
///     max(G_1 + d(G - G_1), G / v - f' + d(G - G / v), G - (v - 1) p f - f'),  f' = f (n - 1) / n
///
/// for the last of the n blocks of a chunk cannot begin before its own weights are there.
/// The gradients of a chunk are whole with its last backward pass, and sent while the p passes of the next chunk run on
/// each stage. Then no stage has time to spare: a pass that ends later makes all later ones later, its successor on the
/// same stage as well as the pass of the stage before. So of all ways through the last v p passes the one counts that loses
/// most: by the passes in which a chunk becomes whole, of all stages and chunks; or by those that follow them, first on
/// their stages, and then through the first stage's last passes, a way with p transfers less.
///
///     in a pass of b with so much traffic T beside it   d(T) = [k min(l T', l / (1 - l) b) + (x - i) min(T', b)]+
///     of which it waits for the host for a share i
///     which others on the adapter make longer           T' = T / max(1/2, 1 - (x + h) / (1 + x))
///     added   max(longest way + [last bucket], (p - 1) d + R - window, (p - 1) d + R_1 + g - b)
///             window = (v - 1) p (b + hop) + own part of the pass,  R_1 of the last chunk to be whole
///
/// A chunk whose gradients take longer than its pass keeps the network busy after it, though those of chunks before it were
/// through in time: it begins to send g into its own pass, when its first bucket is full.
///
/// Holds for:  equal stages and chunks; gradients reduced once a step.
/// Source:     [Narayanan2021] for the order of passes
AddedInTurn added_by_gathers(ChunksInTurn const& turns);
AddedInTurn added_by_reductions(ChunksInTurn const& turns);

} // namespace headroom::training
