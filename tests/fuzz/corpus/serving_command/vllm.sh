meta-llama/Llama-3.1-70B-Instruct --tensor-parallel-size 4 --max-num-seqs=128 -tp 2 --kv-cache-dtype fp8
