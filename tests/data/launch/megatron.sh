#!/bin/bash
#SBATCH --job-name=pretrain
#SBATCH --nodes=8
#SBATCH --ntasks-per-node=1
#SBATCH --gres=gpu:h100:8
#SBATCH --time=24:00:00

TP=8
PP=${PP:-2}
GPUS=8
MODEL_ARGS="
    --num-layers 80 \
    --hidden-size 8192
"
PARALLEL_ARGS=(
    --tensor-model-parallel-size ${TP}
    --pipeline-model-parallel-size $PP
    --num-layers-per-virtual-pipeline-stage 10
    --sequence-parallel
    --use-distributed-optimizer
    --overlap-grad-reduce
)
srun torchrun --nproc_per_node $GPUS --nnodes $SLURM_NNODES pretrain_gpt.py \
    ${MODEL_ARGS} "${PARALLEL_ARGS[@]}" \
    --micro-batch-size 1 --global-batch-size 512 --seq-length 8192 \
    --recompute-granularity selective --bf16 --lr 1.5e-4 --train-iters 100000 \
    --attention-backend fused
