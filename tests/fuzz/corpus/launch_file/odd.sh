#SBATCH -N 2
#SBATCH --gpus-per-node=4
torchrun --tp 2 "--a b" ${X:-3} $