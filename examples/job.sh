#!/bin/bash
#SBATCH --job-name=pretrain
#SBATCH --nodes=8
#SBATCH --gres=gpu:h100:8

srun torchrun --nproc_per_node 8 --nnodes $SLURM_NNODES pretrain_gpt.py \
    --num-layers 80 --hidden-size 8192 \
    --tensor-model-parallel-size 8 --pipeline-model-parallel-size 2 --sequence-parallel \
    --use-distributed-optimizer --overlap-grad-reduce \
    --micro-batch-size 1 --global-batch-size 512 --seq-length 8192 \
    --recompute-granularity selective --bf16
