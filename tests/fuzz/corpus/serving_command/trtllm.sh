llama-3-8b --tp_size 4 --max_batch_size 512 --max_num_tokens 8192
