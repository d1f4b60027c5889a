"""Launch files of --emit are taken by the software that they are written for: by its own parser and its own checks.

Packages: make python-packages; sbatch: Debian's slurm-client. A test whose package is absent is skipped with the reason. NeMo's configuration of
language models is in no package that can be installed here: its file is read by OmegaConf, and its keys are compared with the fields of
Megatron Core that they set.
"""

import contextlib
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import typing
import unittest
from unittest import mock

from _program import run

PACKAGES = pathlib.Path(__file__).resolve().parents[2] / "build" / "python-packages"
sys.path.append(str(PACKAGES / "megatron"))  # unpacked there: its wheel is for a younger Python
if not hasattr(typing, "override"):  # of Python 3.12: a mark without effect
    typing.override = lambda method: method


def module(name):
    """A module, or None, and why it is not there."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return __import__(name, fromlist=["_"]), ""
    except ImportError as error:
        return None, f"{name}: {error}; make python-packages installs it"


GPT = ["llama-3-8b", "--cluster", "dgx-h100", "--sequence-length", "8192", "--global-batch", "256", "--micro-batch", "1"]
MIXTURE = ["mixtral-8x7b", "--cluster", "dgx-h100", "--sequence-length", "4096", "--global-batch", "256", "--micro-batch", "1"]
PLAIN = ["--tp", "1", "--pp", "1", "--cp", "1"]
# Megatron's options of the two models: a user's own script has them.
DIMENSIONS = {
    "llama-3-8b": ["--num-layers", "32", "--hidden-size", "4096", "--ffn-hidden-size", "14336", "--num-attention-heads", "32", "--group-query-attention",
                   "--num-query-groups", "8", "--max-position-embeddings", "8192", "--swiglu", "--normalization", "RMSNorm", "--disable-bias-linear",
                   "--position-embedding-type", "rope", "--untie-embeddings-and-output-weights"],
}
DIMENSIONS["mixtral-8x7b"] = [*DIMENSIONS["llama-3-8b"], "--num-experts", "8", "--moe-router-topk", "2"]
DATA = ["--mock-data", "--tokenizer-type", "NullTokenizer", "--vocab-size", "128256", "--lr", "1e-4", "--train-iters", "10",
        "--no-rope-fusion"]  # Transformer Engine is not there


class Emitted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="headroom-launch-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def emit(self, target, name, *options):
        file = self.folder / name
        code, _, said = run("predict", *map(str, options), "--emit", target, "--out", str(file))
        self.assertIn(code, (0, 3), said)
        return file


class Accelerate(Emitted):
    def test_accelerate_launch_takes_the_file(self):
        launch, reason = module("accelerate.commands.launch")
        if launch is None:
            self.skipTest(reason)
        for zero, kind in ((0, "MULTI_GPU"), (1, "DEEPSPEED"), (2, "FSDP"), (3, "FSDP")):
            for workers in (8, 32):
                with self.subTest(zero=zero, workers=workers):
                    file = self.emit("accelerate", "a.yaml", *GPT, *PLAIN, "--workers", workers, "--zero", zero, "--recompute", "full")
                    config = launch.load_config_from_file(str(file))
                    self.assertEqual((str(config.distributed_type.value), config.num_processes, config.num_machines), (kind, workers, workers // 8))
                    arguments = launch.launch_command_parser().parse_args(["--config_file", str(file), "train.py"])
                    with contextlib.redirect_stdout(io.StringIO()):
                        arguments, _, _ = launch._validate_launch_command(arguments)
                    self.assertEqual((arguments.num_processes, arguments.mixed_precision), (workers, "bf16"))
                    if kind == "FSDP":
                        self.assertEqual(arguments.fsdp_sharding_strategy, "FULL_SHARD" if zero == 3 else "SHARD_GRAD_OP")
                        self.assertEqual(str(arguments.fsdp_activation_checkpointing).lower(), "true")
                    if kind == "DEEPSPEED":
                        self.assertEqual(int(arguments.zero_stage), 1)


class DeepSpeed(Emitted):
    def test_its_configuration_takes_the_file(self):
        config, reason = module("deepspeed.runtime.config")
        if config is None:
            self.skipTest(reason)
        for zero in (0, 1, 2, 3):
            for offload in ("none", "optimizer", "parameters"):
                if (zero, offload) in ((0, "optimizer"), (0, "parameters"), (1, "parameters"), (2, "parameters")):
                    continue
                with self.subTest(zero=zero, offload=offload):
                    file = self.emit("deepspeed", "ds.json", *GPT, *PLAIN, "--workers", 16, "--zero", zero, "--offload", offload)
                    ranks = mock.Mock(**{"get_data_parallel_world_size.return_value": 16})
                    with mock.patch.object(config.dist, "get_rank", return_value=0):
                        read = config.DeepSpeedConfig(str(file), mpu=ranks)
                    self.assertEqual((read.train_batch_size, read.train_micro_batch_size_per_gpu, read.gradient_accumulation_steps), (256, 1, 16))
                    self.assertEqual(read.zero_optimization_stage, zero)
                    self.assertTrue(read.bfloat16_config.enabled)
                    self.assertEqual(read.zero_config.offload_optimizer is not None, offload != "none")
                    self.assertEqual(read.zero_config.offload_param is not None, offload == "parameters")


class Torchtitan(Emitted):
    def test_its_configuration_takes_the_file(self):
        titan, reason = module("torchtitan.config")
        if titan is None:
            self.skipTest(reason)
        for options, expected in (
                ([*PLAIN, "--zero", 3], {"data_parallel_shard_degree": 16}),
                ([*PLAIN, "--zero", 0], {"data_parallel_replicate_degree": 16, "data_parallel_shard_degree": 1}),
                ([*PLAIN, "--zero", 2], {"fsdp_reshard_after_forward": "never"}),
                ([*PLAIN, "--zero", 3, "--shard", 8], {"data_parallel_replicate_degree": 2, "data_parallel_shard_degree": 8}),
                (["--tp", 2, "--pp", 2, "--cp", 2, "--zero", 3], {"tensor_parallel_degree": 2, "pipeline_parallel_degree": 2, "context_parallel_degree": 2}),
                (["--tp", 1, "--pp", 4, "--cp", 1, "--zero", 3, "--schedule", "zbv"], {"pipeline_parallel_schedule": "ZBVZeroBubble"})):
            for recompute, mode in (("none", "none"), ("full", "full"), ("alternate", "selective")):
                with self.subTest(options=options, recompute=recompute):
                    file = self.emit("torchtitan", "job.toml", *GPT, *options, "--workers", 16, "--recompute", recompute, "--framework", "torchtitan")
                    read = titan.ConfigManager().parse_args(["--job.config_file", str(file)])
                    for name, value in expected.items():
                        self.assertEqual(getattr(read.parallelism, name), value, name)
                    self.assertEqual((read.training.global_batch_size, read.training.seq_len, read.activation_checkpoint.mode), (256, 8192, mode))

    def test_experts(self):
        titan, reason = module("torchtitan.config")
        if titan is None:
            self.skipTest(reason)
        file = self.emit("torchtitan", "job.toml", *MIXTURE, *PLAIN, "--workers", 16, "--ep", 8, "--zero", 3, "--framework", "torchtitan")
        self.assertEqual(titan.ConfigManager().parse_args(["--job.config_file", str(file)]).parallelism.expert_parallel_degree, 8)


class Script(Emitted):
    """Scripts of Megatron-LM, run by bash with a torchrun and an srun that keep their arguments."""

    def started(self, file, *more):
        """Accelerators and the arguments of pretrain_gpt.py, and the environment that the script sets."""
        places = self.folder / "bin"
        places.mkdir(exist_ok=True)
        (places / "torchrun").write_text('#!/bin/bash\nprintf "%s\\0" "$CUDA_DEVICE_MAX_CONNECTIONS" "$@" >"$KEPT"\n')
        (places / "srun").write_text('#!/bin/bash\nexec "$@"\n')
        for program in places.iterdir():
            program.chmod(0o755)
        environment = {name: value for name, value in os.environ.items() if name != "CUDA_DEVICE_MAX_CONNECTIONS"}
        environment |= {"PATH": f"{places}:{os.environ['PATH']}", "KEPT": str(self.folder / "kept")}
        subprocess.run(["bash", "-n", file], check=True)
        subprocess.run(["bash", "-eu", file, *more], check=True, env=environment, cwd=self.folder)
        connections, *words = (self.folder / "kept").read_text().split("\0")[:-1]
        at = words.index("pretrain_gpt.py")
        numbers = {words[i]: int(words[i + 1]) for i in range(at) if words[i] in ("--nnodes", "--nproc_per_node")}
        return numbers["--nnodes"] * numbers["--nproc_per_node"], words[at + 1:], connections

    CASES = (
        (GPT, ["--tp", 1, "--pp", 1, "--cp", 1, "--zero", 0]),
        (GPT, ["--tp", 1, "--pp", 1, "--cp", 1, "--zero", 1, "--recompute", "full"]),
        (GPT, ["--tp", 1, "--pp", 1, "--cp", 1, "--zero", 2]),
        (GPT, ["--tp", 1, "--pp", 1, "--cp", 1, "--zero", 3]),
        (GPT, ["--tp", 2, "--pp", 1, "--cp", 2, "--exchange", "gather", "--zero", 1]),
        (GPT, ["--tp", 2, "--pp", 1, "--cp", 2, "--exchange", "ring", "--zero", 1, "--recompute", "selective"]),
        (GPT, ["--tp", 4, "--pp", 2, "--cp", 1, "--virtual-pp", 4, "--zero", 1, "--recompute", "full", "--recompute-layers", 16]),
        (GPT, ["--tp", 2, "--pp", 4, "--cp", 1, "--zero", 1, "--precision", "fp8"]),
        (GPT, ["--tp", 2, "--pp", 4, "--cp", 1, "--zero", 0, "--precision", "fp16"]),
        (MIXTURE, ["--tp", 2, "--pp", 1, "--cp", 1, "--ep", 8, "--etp", 1, "--zero", 1]),
    )

    def test_scripts_run(self):
        for target in ("megatron", "slurm"):
            for model, options in self.CASES:
                with self.subTest(target=target, options=options):
                    file = self.emit(target, "job.sh", *model, *options, "--workers", 16, "--framework", "megatron-core")
                    workers, words, _ = self.started(file, "--lr", "1e-4")
                    self.assertEqual((workers, words[-2:]), (16, ["--lr", "1e-4"]))

    def test_megatron_takes_the_options(self):
        arguments, reason = module("megatron.training.arguments")
        if arguments is None:
            self.skipTest(reason)
        for model, options in self.CASES:
            with self.subTest(options=options):
                given = dict(zip(options[::2], options[1::2]))
                file = self.emit("megatron", "job.sh", *model, *options, "--workers", 16, "--framework", "megatron-core")
                workers, words, connections = self.started(file, *DIMENSIONS[model[0]], *DATA)
                environment = {"WORLD_SIZE": str(workers), "RANK": "0"} | ({"CUDA_DEVICE_MAX_CONNECTIONS": connections} if connections else {})
                hopper = mock.patch.object(arguments, "get_device_arch_version", return_value=9)
                with mock.patch.dict(os.environ, environment), mock.patch.object(sys, "argv", ["pretrain_gpt.py", *words]), hopper, \
                        contextlib.redirect_stdout(io.StringIO()):
                    read = arguments.validate_args(arguments.parse_args())
                    config = arguments.core_transformer_config_from_args(read)
                self.assertEqual((config.tensor_model_parallel_size, config.pipeline_model_parallel_size, config.context_parallel_size),
                                 (given["--tp"], given["--pp"], given["--cp"]))
                self.assertEqual((read.global_batch_size, read.micro_batch_size, read.data_parallel_size),
                                 (256, 1, 16 // given["--tp"] // given["--pp"] // given["--cp"]))
                self.assertEqual(read.use_distributed_optimizer, given["--zero"] >= 1)
                if "--exchange" in given:
                    self.assertEqual(config.cp_comm_type, {"gather": "all_gather", "ring": "p2p"}[given["--exchange"]])

    def test_sbatch_takes_the_header(self):
        sbatch = shutil.which("sbatch")
        if sbatch is None:
            self.skipTest("sbatch is not installed: Debian's slurm-client has it")
        settings = self.folder / "slurm.conf"  # of a controller that nobody runs: the options are read before it is asked
        settings.write_text("ClusterName=none\nSlurmctldHost=localhost(127.0.0.1)\nAuthType=auth/none\nGresTypes=gpu\nMessageTimeout=5\n")
        file = self.emit("slurm", "job.sh", *GPT, "--tp", 2, "--pp", 1, "--cp", 1, "--workers", 16)

        def said():
            return subprocess.run([sbatch, "--test-only", file], env=os.environ | {"SLURM_CONF": str(settings)}, capture_output=True, text=True, check=False).stderr

        self.assertIn("Unable to contact slurm controller", said())
        file.write_text(file.read_text().replace("#SBATCH --nodes", "#SBATCH --nodez"))
        self.assertIn("unrecognized option", said())


class NeMo(Emitted):
    def test_its_keys_are_fields_of_megatron_core(self):
        omega, reason = module("omegaconf")
        if omega is None:
            self.skipTest(reason)
        file = self.emit("nemo", "job.yaml", *GPT, "--tp", 2, "--pp", 4, "--cp", 1, "--virtual-pp", 2, "--zero", 1, "--workers", 16, "--recompute", "full")
        read = omega.OmegaConf.load(file)
        self.assertEqual((read.trainer.devices, read.trainer.num_nodes, read.trainer.precision), (8, 2, "bf16"))
        self.assertEqual((read.model.global_batch_size, read.model.encoder_seq_length, read.model.activations_checkpoint_method), (256, 8192, "uniform"))
        core, _ = module("megatron.core.model_parallel_config")
        if core is None:
            return
        fields = core.ModelParallelConfig.__dataclass_fields__
        for key in read.model:
            if "parallel" in key:
                self.assertIn(key, fields)
        none = omega.OmegaConf.load(self.emit("nemo", "job.yaml", *GPT, *PLAIN, "--zero", 1, "--workers", 16, "--recompute", "none"))
        self.assertIsNone(none.model.activations_checkpoint_granularity)


if __name__ == "__main__":
    unittest.main()
