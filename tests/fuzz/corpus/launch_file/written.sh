STAGE=2
cat <<EOF > ds.json
{"zero_optimization": {"stage": $STAGE}, "bf16": {"enabled": true}}
EOF
read -r -d '' ARGS <<'END'
--per_device_train_batch_size 4 \
  --modules_to_save embed_tokens --block_size 128
END
N=$(echo $CUDA_VISIBLE_DEVICES | tr ',' '\n' | wc -l)
jsrun -n 4 -g 6 deepspeed --include a:0,1 --module train.sft $ARGS --deepspeed ds.json --batch_size 3 --num-distributed-optimizer-instances 2
