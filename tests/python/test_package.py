"""Objects, exceptions, threads, signals, processes and types of the package."""

import copy
import fractions
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest

import headroom
from headroom import units

from _program import SOURCE, run

QUESTION = {"model": "llama-3-8b", "cluster": "dgx-h100", "workers": 8}


def memory_bytes():
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    return 0


class Answers(unittest.TestCase):
    def test_attributes_keys_and_forms(self):
        answer = headroom.predict(**QUESTION)
        self.assertEqual(answer.step_seconds, answer["step_seconds"])
        self.assertEqual(answer.strategy.tp, answer.to_dict()["strategy"]["tp"])
        self.assertIsInstance(answer.memory_by_stage, tuple)
        self.assertEqual(str(answer), run("predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8", "--quiet")[1])
        self.assertEqual(answer.to_csv(), run("predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8", "--format", "csv", "--quiet")[1])
        self.assertIn("<html", answer.to_html()[:500])
        self.assertIn("<pre>", answer._repr_html_())
        self.assertIn("<iframe", answer.page()._repr_html_()[:100])

    def test_an_answer_cannot_be_changed(self):
        answer = headroom.predict(**QUESTION)
        with self.assertRaises(AttributeError):
            answer.step_seconds = 1.0
        with self.assertRaises(AttributeError):
            del answer.strategy
        with self.assertRaises(TypeError):
            answer["step_seconds"] = 1.0
        taken = answer.to_dict()
        taken["step_seconds"] = -1.0
        self.assertGreater(answer.step_seconds, 0.0)
        with self.assertRaisesRegex(AttributeError, "no field 'stepseconds'"):
            answer.stepseconds

    def test_equality_hash_copies_and_pickles(self):
        answer = headroom.predict(**QUESTION)
        again = pickle.loads(pickle.dumps(answer))
        self.assertEqual(answer, again)
        self.assertEqual(hash(answer), hash(again))
        self.assertIs(type(again), type(answer))
        self.assertEqual(str(again), str(answer))
        self.assertIs(copy.deepcopy(answer), answer)
        self.assertEqual(answer, headroom.predict("llama-3-8b", "dgx-h100", workers=8))
        self.assertNotEqual(answer, headroom.predict("llama-3-8b", "dgx-h100", workers=16))

    def test_an_answer_is_made_when_it_is_asked_for(self):
        # One question is answered once: its table, its page and its fields are those of one result, whatever has changed since.
        for ask in (lambda: headroom.predict(**QUESTION), lambda: headroom.plan("llama-3-8b", "dgx-h100", workers=[8, 16]),
                    lambda: headroom.laws(serial=0.05, workers=64)):
            answer = ask()
            asked, headroom._program.answer = headroom._program.answer, None
            try:
                table, page = str(answer), answer.to_html()
                again = pickle.loads(pickle.dumps(answer))
            finally:
                headroom._program.answer = asked
            self.assertEqual((again, str(again), again.to_csv()), (ask(), table, answer.to_csv()))
            self.assertIn("<html", page[:500])
        with tempfile.TemporaryDirectory() as folder:
            constants = os.path.join(folder, "mine.toml")
            with open(constants, "w", encoding="utf-8") as file:
                file.write("partial = true\nname = 'mine'\n[constants.gemm_hopper]\nvalue = 0.5\n")
            answer = headroom.predict(**QUESTION, tp=2, calibration=constants)
            os.remove(constants)
            self.assertEqual(answer.calibration, "mine")
            self.assertIn("mine", str(answer) + answer.to_html())

    def test_an_answer_is_asked_once(self):
        with tempfile.TemporaryDirectory() as folder:
            table = os.path.join(folder, "times.csv")
            with open(table, "w", encoding="utf-8") as file:
                file.write("latency_ms\n" + "".join(f"{10 + i % 7}\n" for i in range(200)))
            answer = headroom.tail(table)
            shown, rows = str(answer), answer.to_csv()
            self.assertIn("<html", answer.to_html())
            with open(table, "a", encoding="utf-8") as file:
                file.write("9000\n" * 100)
            self.assertEqual((str(answer), answer.to_csv()), (shown, rows))
            with self.assertRaisesRegex(headroom.Error, "has changed since it was answered"):
                answer.to_html()
            os.remove(table)
            self.assertEqual(str(pickle.loads(pickle.dumps(answer))), shown)

            kept = os.path.join(folder, "mine.toml")
            step = headroom.predict("llama-3-8b", "dgx-h100", workers=8, measured_step="9s", save_calibration=kept)
            with open(kept, encoding="utf-8") as file:
                before = file.read()
            str(step), step.to_csv(), step.to_html()
            with open(kept, encoding="utf-8") as file:
                self.assertEqual(file.read(), before)

    def test_values_of_other_libraries_and_empty_ones(self):
        import datetime

        class Array:
            def tolist(self):
                return [8, 16]

        plan = headroom.plan("llama-3-8b", "dgx-h100", workers=Array(), fix={"tp": 2})
        self.assertEqual([point.workers for point in plan.curve], [8, 16])
        self.assertEqual({point.strategy.tp for point in plan.curve if point.feasible}, {2})
        self.assertEqual([p.workers for p in headroom.plan("llama-3-8b", "dgx-h100", workers=(n for n in (8, 16))).curve], [8, 16])
        day = headroom.plan("llama-3-8b", "dgx-h100", workers=8, tokens="1B", deadline=datetime.timedelta(days=30))
        self.assertEqual(day.rule, headroom.plan("llama-3-8b", "dgx-h100", workers=8, tokens="1B", deadline="30d").rule)
        with self.assertRaises(headroom.UsageError) as caught:
            headroom.predict("llama-3-8b", [], workers=8)
        self.assertIn("cluster", str(caught.exception))
        self.assertNotIn("format", str(caught.exception))
        for option in ("out", "format", "print_config", "help"):
            with self.subTest(option=option), self.assertRaisesRegex(headroom.UsageError, "no such argument"):
                headroom.predict("llama-3-8b", "dgx-h100", workers=8, **{option: "x"})
        with self.assertRaises(headroom.Error):
            headroom.predict("--help")

    def test_values_of_enumerations_dataclasses_and_collections(self):
        import collections
        import dataclasses
        import enum

        class Precision(str, enum.Enum):
            BF16 = "bf16"

        class Count(enum.Enum):
            NODE = 8

        @dataclasses.dataclass
        class Degrees:
            tp: int = 2

        by_text = headroom.predict(**QUESTION, precision="bf16")
        self.assertEqual(headroom.predict(**QUESTION, precision=Precision.BF16), by_text)
        for workers in (Count.NODE, collections.deque([8]), {8: "a"}.keys()):
            self.assertEqual(headroom.predict("llama-3-8b", "dgx-h100", workers=workers, precision="bf16"), by_text)
        plan = headroom.plan("llama-3-8b", "dgx-h100", workers=8, fix=Degrees())
        self.assertEqual(plan, headroom.plan("llama-3-8b", "dgx-h100", workers=8, fix="tp=2"))
        with self.assertRaisesRegex(headroom.UsageError, "bytearray"):
            headroom.predict("llama-3-8b", "dgx-h100", workers=bytearray(b"8"))

    def test_what_python_alone_describes_is_no_value(self):
        import io

        for wrong, named in ((b"8", "a bytes"), (io.StringIO("8"), "a StringIO"), (ValueError("8"), "a ValueError"), (slice(8), "a slice"), (8j, "a complex"),
                             ([8, None], "None")):
            with self.subTest(wrong=wrong), self.assertRaisesRegex(headroom.UsageError, f"^workers: {named} .it is neither a number nor a text"):
                headroom.plan("llama-3-8b", "dgx-h100", workers=wrong)
        answer = headroom.predict(**QUESTION)
        with self.assertRaisesRegex(headroom.UsageError, "^cluster: a part of an answer"):  # its name is not all of it
            headroom.predict("llama-3-8b", answer.cluster, workers=8)
        with self.assertRaisesRegex(headroom.UsageError, "^model: True"):
            headroom.predict(True, "dgx-h100", workers=8)
        with self.assertRaisesRegex(headroom.UsageError, "^model: a bytes"):
            headroom.predict(b"llama-3-8b", "dgx-h100", workers=8)
        with open(__file__, encoding="utf-8") as file, self.assertRaisesRegex(headroom.UsageError, "^samples: a TextIOWrapper .it is a file"):
            headroom.tail(file)
        self.assertEqual(headroom.laws(serial=fractions.Fraction(1, 20), workers=64), headroom.laws(serial=0.05, workers=64))

    def test_switches_are_true_or_false(self):
        plan = headroom.plan("llama-3-8b", "dgx-h100", workers=8)
        for left_out in (False, None):
            self.assertEqual(headroom.plan("llama-3-8b", "dgx-h100", workers=8, dry_run=left_out), plan)
        for wrong in (0, 1, "no", "on", []):
            with self.subTest(wrong=wrong), self.assertRaisesRegex(headroom.UsageError, "^dry_run: .*it is a switch.. give True or False"):
                headroom.plan("llama-3-8b", "dgx-h100", workers=8, dry_run=wrong)

    def test_an_unknown_argument_is_refused_whatever_its_value(self):
        for value in (None, False, [], 8):
            with self.subTest(value=value), self.assertRaisesRegex(headroom.UsageError, "^wrokers: no such argument.*did you mean 'workers'"):
                headroom.predict(**QUESTION, wrokers=value)
        self.assertEqual(headroom.predict(**QUESTION, gpus=None), headroom.predict(**QUESTION))  # as another tool names it

    def test_several_values_of_an_option(self):
        by_text = headroom.predict(**QUESTION, sweep=["tp=1,2", "micro_batch=1,2"])
        self.assertEqual(headroom.predict(**QUESTION, sweep={"tp": [1, 2], "micro_batch": range(1, 3)}).to_csv(), by_text.to_csv())
        self.assertEqual(headroom.plan("llama-3-8b", "dgx-h100", workers=range(16, 7, -8)).to_csv(),
                         headroom.plan("llama-3-8b", "dgx-h100", workers=[8, 16]).to_csv())

    def test_values_of_numpy_and_pandas(self):
        try:
            import numpy
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        by_number = headroom.predict(**QUESTION, precision="fp32")
        for workers in (pandas.Series([8]), pandas.Series([8], name="workers"), pandas.Index([8]), numpy.int64(8), numpy.array([8.0])):
            self.assertEqual(headroom.predict("llama-3-8b", "dgx-h100", workers=workers, precision=numpy.float32), by_number)
        for model in (pandas.DataFrame({"model": ["llama-3-8b"]}), pandas.Series(["llama-3-8b"])):
            with self.assertRaisesRegex(headroom.UsageError, f"^model: a {type(model).__name__}"):
                headroom.predict(model, "dgx-h100", workers=8)
        sizes = [str(size) for size in units.GB * numpy.array([1, 2])]
        self.assertEqual(sizes, [str(size) for size in numpy.array([1, 2]) * units.GB])
        self.assertEqual(sizes, ["1GB", "2GB"])
        for wrong, named in ((pandas.DataFrame({"workers": [8]}), "a DataFrame .it takes no table"), (numpy.bool_(True), "True .no value of it")):
            with self.assertRaisesRegex(headroom.UsageError, f"^workers: {named}"):
                headroom.predict("llama-3-8b", "dgx-h100", workers=wrong)

    def test_an_argument_is_given_once(self):
        with self.assertRaisesRegex(headroom.UsageError, "^cluster: given twice"):
            headroom.predict("llama-3-8b", "dgx-h100", cluster="dgx-a100", workers=8)
        with self.assertRaisesRegex(headroom.UsageError, "^model: given twice"):
            headroom.predict("llama-3-8b", model="llama-3-70b", cluster="dgx-h100", workers=8)
        self.assertEqual(headroom.predict("llama-3-8b", "dgx-h100", cluster=None, workers=8), headroom.predict(**QUESTION))

    def test_a_model_as_any_mapping(self):
        import types

        config = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
                  "vocab_size": 1000}

        class Config:
            def to_dict(self):
                return config

        by_config = headroom.predict(config, "dgx-h100", workers=8)
        self.assertEqual(headroom.predict(types.MappingProxyType(config), "dgx-h100", workers=8), by_config)
        self.assertEqual(headroom.predict(Config(), "dgx-h100", workers=8), by_config)
        self.assertEqual(headroom.predict([config], "dgx-h100", workers=8), by_config)
        with self.assertRaisesRegex(headroom.UsageError, "^model: 2 models"):
            headroom.predict([config, "llama-3-8b"], "dgx-h100", workers=8)

    def test_a_model_as_a_dictionary(self):
        config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
                  "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256,
                  "max_position_embeddings": 8192, "tie_word_embeddings": False}
        by_name, by_config = headroom.predict(**QUESTION), headroom.predict(config, "dgx-h100", workers=8)
        self.assertEqual(by_name.memory.total_bytes, by_config.memory.total_bytes)
        self.assertEqual(by_config, headroom.predict(config, "dgx-h100", workers=8))  # no name of a file that the call made
        self.assertEqual(by_config.model.name, "model")
        self.assertNotIn(tempfile.gettempdir(), str(by_config.to_dict()))
        self.assertEqual(headroom.estimate_memory(headroom.from_hf(config), "dgx-h100", workers=8), by_config.memory)

    def test_values(self):
        text = headroom.comm(size="1GB", ranks=8, link="50GB/s,5us")
        self.assertEqual(text, headroom.comm(size=1 * units.GB, ranks="8", link="50GB/s,5us"))
        self.assertEqual(str(80 * units.GB), "80GB")
        self.assertEqual(str(units.days * 1.5), "1.5d")
        self.assertEqual(str(fractions.Fraction(1, 2) * units.GB), "0.5GB")
        for wrong in ("2", b"2", True, None, 1j, [1, 2], units.GB):
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                2 * units.GB * wrong

    def test_a_frame(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            try:
                import polars  # noqa: F401
            except ImportError:
                self.skipTest("neither pandas nor polars is installed")
        plan = headroom.plan("llama-3-8b", "dgx-h100", workers=[8, 16])
        self.assertEqual(list(plan.to_frame()["workers"]), [8, 16])
        rows = plan.curve.to_frame()
        self.assertEqual(list(rows["workers"]), [8, 16])
        self.assertEqual(list(rows["memory.total_bytes"]), [size.memory.total_bytes for size in plan.curve])
        self.assertEqual(list(rows.columns)[:2], list(plan.curve[0])[:2])

    def test_a_frame_of_polars(self):
        script = textwrap.dedent("""
            import sys
            sys.modules["pandas"] = None  # as where it is not installed
            import headroom
            trace = headroom.trace(sys.argv[1])
            print(trace.ranks.to_frame().shape[0] == len(trace.ranks), trace.to_frame().shape[0] > 0)
        """)
        try:
            import polars  # noqa: F401
        except ImportError:
            self.skipTest("polars is not installed")
        done = subprocess.run([sys.executable, "-c", script, str(SOURCE / "examples" / "profiler")], capture_output=True, text=True, env=os.environ, check=False)
        self.assertEqual(done.stdout.split(), ["True", "True"], done.stderr)

    def test_a_record_is_a_mapping(self):
        memory = headroom.predict(**QUESTION).memory
        self.assertEqual(dict(zip(memory.keys(), memory.values())), dict(memory))

    def test_a_list_of_records_is_rows(self):
        plan = headroom.plan("llama-3-8b", "dgx-h100", workers=[8, 16])
        self.assertIsInstance(plan.curve, headroom.Rows)
        self.assertIsInstance(plan.curve, tuple)
        self.assertEqual(pickle.loads(pickle.dumps(plan.curve)), plan.curve)
        self.assertNotIsInstance(plan.curve[0].interval_seconds, headroom.Rows)

    def test_parts_of_answers_in_a_notebook(self):
        plan = headroom.plan("llama-3-8b", "dgx-h100", workers=[8, 16])
        part = plan.curve[:1]
        self.assertIsInstance(part, headroom.Rows)
        self.assertEqual(part, (plan.curve[0],))
        self.assertIsInstance(plan.curve[0], headroom.Record)
        self.assertIn("<th>memory.total_bytes</th>", part._repr_html_())
        many = headroom.Rows(plan.curve[:1] * 100)._repr_html_()
        self.assertEqual((many.count("<tr>"), "60 of 100 rows" in many), (61, True))
        self.assertIn(f"<td>weights_bytes</td><td>{plan.curve[0].memory.weights_bytes}</td>", plan.curve[0].memory._repr_html_())
        self.assertEqual(dict(plan.curve[0].items()), dict(plan.curve[0]))
        self.assertEqual((plan.get("no_such_field", 7), plan.get("curve")), (7, plan.curve))

    def test_several_sizes_of_fine_tuning(self):
        tuning = headroom.finetune("llama-3-8b", "dgx-h100", workers=[1, 2, 4], dataset_tokens="50M")
        self.assertEqual([size.workers for size in tuning.curve], [1, 2, 4])
        self.assertEqual([size.workers for size in tuning.curve if size.recommended], [tuning.workers])

    def test_a_frame_is_a_table(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        frame = pandas.DataFrame({"workers": [1, 2, 4, 8], "seconds": [10.0, 5.2, 2.8, 1.6]})
        with tempfile.TemporaryDirectory() as folder:
            frame.to_csv(f"{folder}/fit.csv", index=False)
            by_file = headroom.laws(fit=f"{folder}/fit.csv")
        self.assertEqual(headroom.laws(fit=frame).to_csv(), by_file.to_csv())
        self.assertNotIn(tempfile.gettempdir(), str(headroom.laws(fit=frame).to_dict()))
        self.assertIn("<html", pickle.loads(pickle.dumps(headroom.laws(fit=frame))).to_html()[:500])
        with self.assertRaisesRegex(headroom.UsageError, "^fit:1: no column of worker counts"):
            headroom.laws(fit=frame.rename(columns={"workers": "a"}))
        for series in (pandas.Series([1.0, 2.0] * 10), pandas.Series([1.0, 2.0] * 10, name="latency_s")):
            self.assertEqual(headroom.tail(series).samples.count, 20)  # a name that is no text is no sample

    def test_an_index_with_a_name_is_a_column(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        frame = pandas.DataFrame({"workers": [1, 2, 4, 8], "seconds": [10.0, 5.2, 2.8, 1.6]})
        by_frame = headroom.laws(fit=frame)
        for same in (frame.set_index("workers"), frame.groupby("workers")["seconds"].mean(), frame.groupby("workers").mean()):
            self.assertEqual(headroom.laws(fit=same).to_csv(), by_frame.to_csv())
        values = pandas.Series([1.0, 2.0] * 10, name="latency_s", index=pandas.RangeIndex(100, 120, name="id"))
        self.assertEqual(headroom.tail(values), headroom.tail(values.reset_index(drop=True)))
        self.assertEqual(headroom.tail(values.to_frame()).samples.count, 20)
        self.assertIsNotNone(headroom.tail(values, baseline=values).comparison)
        for durations in (pandas.to_timedelta(values, unit="s"), pandas.DataFrame({"latency": pandas.to_timedelta(values, unit="s")})):
            with self.assertRaisesRegex(headroom.UsageError, "^samples: column 'latency.*' holds durations"):
                headroom.tail(durations)

    def test_paths_of_a_pattern(self):
        with tempfile.TemporaryDirectory() as folder:
            for number in range(2):
                pathlib.Path(folder, f"times{number}.csv").write_text("latency_ms\n" + "".join(f"{10 + number + i % 7}\n" for i in range(50)))
            files = sorted(pathlib.Path(folder).glob("*.csv"))
            for paths in (files, (path for path in files), iter(map(str, files))):
                self.assertEqual(headroom.tail(paths).samples.count, 100)
            self.assertEqual(headroom.tail(files[0], baseline=(path for path in files)), headroom.tail(files[0], baseline=files))
            with self.assertRaisesRegex(headroom.UsageError, "^baseline: .*it is empty"):
                headroom.tail(files[0], baseline=[])

    def test_files_that_a_question_writes(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = os.path.join(folder, "machine.toml")
            answer = headroom.calibrate(str(SOURCE / "examples" / "all_reduce.log"), cluster="dgx-h100", out=kept)
            self.assertEqual(answer.saved, kept)
            self.assertIn("<html", answer.to_html()[:500])
            self.assertTrue(headroom.predict(**QUESTION, calibration=kept).fits)
        launch = headroom.predict(**QUESTION, emit="megatron")
        words = run("predict", "llama-3-8b", "--cluster", "dgx-h100", "--workers", "8", "--emit", "megatron", "--quiet")[1]
        self.assertEqual(launch.to_launch(), words)
        self.assertEqual(launch, headroom.predict(**QUESTION))
        with self.assertRaises(TypeError):
            headroom.predict(**QUESTION).to_launch()

    def test_a_command_that_is_measured(self):
        for command in (["true", "{workers}"], "true {workers}"):
            with self.subTest(command=command):
                self.assertTrue(str(headroom.measure_scaling(command, workers=[1, 2], dry_run=True)))
        with self.assertRaisesRegex(headroom.UsageError, "^command: missing"):
            headroom.measure_scaling(workers=[1, 2])
        with self.assertRaisesRegex(headroom.UsageError, "^command: has no {workers} in it"):
            headroom.measure_scaling(["true"], workers=[1, 2], dry_run=True)

    def test_a_plot(self):
        try:
            import matplotlib
        except ImportError:
            self.assertRaisesRegex(ImportError, "page\\(\\) has charts", headroom.laws(serial=0.05, workers=[1, 2]).plot)
            self.skipTest("matplotlib is not installed")
        matplotlib.use("Agg")
        plan = headroom.plan("llama-3-8b", "dgx-h100", workers=[8, 16])
        axes = plan.plot()
        (line,) = axes.get_lines()
        self.assertEqual(list(line.get_xdata()), [8, 16])
        self.assertEqual(list(line.get_ydata()), [size.step_seconds for size in plan.curve])
        self.assertEqual((axes.get_xlabel(), axes.get_ylabel()), ("workers", "step_seconds"))
        self.assertIs(headroom.laws(serial=0.05, workers="1..64").plot(ax=axes), axes)
        self.assertEqual(len(axes.get_lines()), 3)
        comm = headroom.comm(collective="all_reduce", size="1GB", ranks=[8, 16], cluster="dgx-h100").plot()
        self.assertIn("ring", [text.get_text() for text in comm.get_legend().get_texts()])
        several = headroom.plan("llama-3-8b,llama-3-70b", "dgx-h100,dgx-a100", workers=[32, 64]).plot()
        self.assertEqual({text.get_text() for text in several.get_legend().get_texts()},
                         {f"{model}, {cluster}" for model in ("llama-3-8b", "llama-3-70b") for cluster in ("dgx-h100", "dgx-a100")})
        queue = headroom.queue(arrivals="100/s", service="50ms", replicas="6..12:2").plot()
        trace = headroom.trace(str(SOURCE / "examples" / "profiler")).plot()
        self.assertEqual(len(trace.get_lines()), 3)  # whole ranks, not each step of them
        for drawn in (axes, comm, several, queue, trace):
            for line in drawn.get_lines():
                across = list(line.get_xdata())
                self.assertEqual(across, sorted(set(across)), "a line goes one way")
        with self.assertRaisesRegex(ValueError, "no column of numbers 'step'; there are workers, "):
            plan.plot(y="step")
        with self.assertRaisesRegex(ValueError, "no columns of numbers"):
            headroom.predict(**QUESTION).plot()
        with self.assertRaisesRegex(ValueError, "name the columns x and y|no columns of numbers"):
            headroom.catalog("list").plot()


class Refusals(unittest.TestCase):
    def test_parts_and_kinds(self):
        with self.assertRaises(ValueError) as caught:
            headroom.predict("llama-3-8b", "dgx-h100", wrokers=8)
        error = caught.exception
        self.assertIsInstance(error, headroom.UsageError)
        self.assertEqual(error.where, "wrokers")
        self.assertEqual(error.hint, "did you mean 'workers'?")
        self.assertEqual(str(error), "wrokers: no such argument (headroom.predict does not take it). did you mean 'workers'?")
        self.assertEqual(error.exit_code, 2)
        self.assertEqual(str(pickle.loads(pickle.dumps(error))), str(error))
        with self.assertRaises(headroom.UnreadableError):
            headroom.tail("/no/such/file")
        with self.assertRaisesRegex(TypeError, r"headroom.predict takes 2 arguments without a name \(model, cluster\), 3 were given"):
            headroom.predict("llama-3-8b", "dgx-h100", "third", workers=8)
        with self.assertRaises(headroom.UnreadableError) as caught:
            headroom.trace(str(SOURCE / "README.md"))
        self.assertEqual((caught.exception.where, caught.exception.problem), (str(SOURCE / "README.md"), "cannot be read as a trace"))
        for wrong in (object(), 1j, b"8", {"a": 1}, "8 GB", [], "8\x008"):
            with self.subTest(workers=wrong), self.assertRaises(headroom.Error):
                headroom.predict("llama-3-8b", "dgx-h100", workers=wrong)

    def test_they_speak_python(self):
        config = {"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "vocab_size": 1000}
        for call, part in (
                (lambda: headroom.predict("llama-3-8b", "dgx-h100", workers=[8, 16]), "use headroom.plan for a curve"),
                (lambda: headroom.plan("llama-3-8b", "dgx-h100", global_batch="12 cats"), "global_batch: "),
                (lambda: headroom.plan("llama-3-8b", "dgx-h100", tokens="2T", deadline=30), "deadline: '30' has no unit (needs seconds). for example '30d'"),
                (lambda: headroom.plan("nothing-like-it", "dgx-h100"), "`headroom.catalog('list')` shows the models"),
                (lambda: headroom.plan(cluster="dgx-h100"), "headroom.plan: model (llama-3-70b, a config.json) is missing"),
                (lambda: headroom.plan({**config, "num_attention_heads": "many"}, "dgx-h100"), "model:"),
                (lambda: headroom.plan({"a": 1}, "dgx-h100"), "model"),
                (lambda: headroom.predict("llama-3-8b", "dgx-h100", workers=8, dp="some"), "dp: "),
                (lambda: headroom.comm(size="1GB", ranks=8), ""),
                (lambda: headroom.finetune("llama-3-8b", "2x4090"), "dataset_tokens"),
                (lambda: headroom.measure_comm(sizes="8"), "sizes: "),
                (lambda: headroom.comm(size="1GB", ranks=8), "link='450GB/s,1us', or cluster='dgx-h100'"),
                (lambda: headroom.roofline(), "machine='h100'"),
                (lambda: headroom.graph(), "headroom.graph('sum-tree:1000')"),
                (lambda: headroom.predict("llama-3-8b", "dgx-h100", workers=True), "workers: True (no value of it)"),
                (lambda: headroom.predict("llama-3-8b", "dgx-h100", workers=8, recompute=True), "recompute: True (no value of it)"),
                (lambda: headroom.laws(fit=[1, 2, 4]), "fit: a list (it is a file)"),
                (lambda: headroom.tail([0.1, 0.2]), "samples: a float (it is a file)"),
                (lambda: headroom.predict({(1, 2): 3}, "dgx-h100", workers=8), "config: cannot be written as JSON")):
            with self.subTest(part=part), self.assertRaises(headroom.Error) as caught:
                call()
            error = caught.exception
            self.assertIn(part, str(error))
            for text in (str(error), error.where, error.problem, error.why, error.hint):
                self.assertNotRegex(text, r"(?<![\w-])--[a-z]|command line|/model-|MODEL|headroom (plan|predict|catalog)")

    def test_a_plan_that_does_not_fit_is_an_answer(self):
        answer = headroom.predict("llama-3-70b", "dgx-h100", workers=1)
        self.assertFalse(answer.fits)

    def test_help_names_arguments(self):
        for name in headroom._verbs.names():
            with self.subTest(name=name):
                self.assertNotRegex(getattr(headroom, name).__doc__, r"(?<![\w-])--[a-z]")

    def test_a_model_of_an_answer(self):
        answer = headroom.predict(**QUESTION)
        self.assertEqual(headroom.predict(answer.model, "dgx-h100", workers=8), answer)

    def test_no_such_function(self):
        with self.assertRaisesRegex(AttributeError, "no attribute 'prdict'"):
            headroom.prdict


class Process(unittest.TestCase):
    def test_threads_get_their_own_answers(self):
        sizes, found, lock = [8, 16, 32, 64] * 4, {}, threading.Lock()
        expected = {size: headroom.predict("llama-3-8b", "dgx-h100", workers=size) for size in set(sizes)}

        def ask(index, size):
            answer = headroom.predict("llama-3-8b", "dgx-h100", workers=size)
            with lock:
                found[index] = answer == expected[size]

        threads = [threading.Thread(target=ask, args=each) for each in enumerate(sizes)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sum(found.values()), len(sizes))

    def test_ctrl_c_ends_a_long_call(self):
        # The signal is sent from within, once the call runs: whatever the machine's speed, the call is not over by then.
        script = textwrap.dedent("""
            import os, signal, threading, headroom
            started = threading.Event()
            def interrupt():
                started.wait()
                os.kill(os.getpid(), signal.SIGINT)
            threading.Thread(target=interrupt, daemon=True).start()
            try:
                started.set()
                headroom.validate(leave_one_source_out=True)
            except KeyboardInterrupt:
                print("stopped", headroom.predict("llama-3-8b", "dgx-h100", workers=8).fits)
        """)
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=os.environ, timeout=600, check=False)
        self.assertEqual(done.stdout.split(), ["stopped", "True"], done.stderr)

    def test_signals_are_left_alone(self):
        before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGPIPE)
        headroom.plan("llama-3-8b", "dgx-h100", workers=8)
        self.assertEqual((signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGPIPE)), before)

    def test_a_fork_after_use(self):
        expected = headroom.predict(**QUESTION)
        child = os.fork()
        if child == 0:
            os._exit(0 if headroom.predict(**QUESTION) == expected else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def test_many_calls_keep_memory_flat(self):
        # 8 MiB in 10,000 calls are 800 bytes a call: an answer, a text or a catalog that is not freed is more.
        calls = int(os.environ.get("HEADROOM_CALLS", 10_000))

        def ask(i):
            headroom.laws(serial=0.05, workers=64)
            if i % 10 == 0:
                with self.assertRaises(headroom.Error):
                    headroom.laws(serial="none")
            if i % 100 == 0:
                headroom.predict(**QUESTION, tp=2, zero=1, micro_batch=1, recompute="none")

        for i in range(calls // 10):
            ask(i)
        before = memory_bytes()
        for i in range(calls):
            ask(i)
        self.assertLess(memory_bytes() - before, 8 << 20)

    def test_a_verb_of_the_program_alone(self):
        code, out, errors, (_, problem, why, hint), _ = headroom._program.ask(["serve"])
        self.assertEqual((code, out, problem), (2, "", "'serve' is not in this program"), errors)
        self.assertIn("cpp-httplib", why)
        self.assertIn("libcpp-httplib-dev", hint)

    def test_a_second_interpreter(self):
        script = textwrap.dedent("""
            try:
                import _interpreters as api
            except ImportError:
                import _xxsubinterpreters as api
            import sys, headroom
            expected = headroom.predict("llama-3-8b", "dgx-h100", workers=8).step_seconds
            for _ in range(3):
                other = api.create()
                api.run_string(other, f'''
            import headroom
            try:
                headroom.laws(serial="none")
            except headroom.Error as error:
                assert error.where == "serial", error.where
            answer = headroom.predict("llama-3-8b", "dgx-h100", workers=8)
            with open({sys.argv[1]!r}, "a") as file:
                print(answer.step_seconds == {expected!r}, file=file)
            ''')
                api.destroy(other)
            print(headroom.predict("llama-3-8b", "dgx-h100", workers=8).step_seconds == expected)
        """)
        with tempfile.NamedTemporaryFile("r") as file:
            done = subprocess.run([sys.executable, "-c", script, file.name], capture_output=True, text=True, env=os.environ, check=False)
            if "No module named '_xxsubinterpreters'" in done.stderr:
                self.skipTest("this Python has no second interpreters")
            self.assertEqual((done.returncode, done.stdout.split(), file.read().split()), (0, ["True"], ["True"] * 3), done.stderr)

    def test_a_changed_catalog_and_calibration_are_read_again(self):
        constant = "partial = true\nname = 'mine'\n[constants.gemm_hopper]\nvalue = {}\n"
        price = "accelerator = 'h100-sxm-80gb'\n[[price]]\nprice = '{} $/h'\nkind = 'on-demand'\ndate = '2026-01-01'\nprovider = 'mine'\n"
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "prices").mkdir()
            seconds, prices, hashes = [], [], []
            for value in (0.5, 0.25):
                (folder / "mine.toml").write_text(constant.format(value))
                (folder / "prices" / "h100-sxm-80gb.toml").write_text(price.format(value * 10))
                answer = headroom.predict(**QUESTION, tp=2, calibration=folder / "mine.toml", catalog=folder)
                seconds.append(answer.step_seconds)
                hashes.append(answer.catalog_hash)
                prices.append(answer.cluster.price_dollars_per_hour)
            self.assertGreater(seconds[1], 1.2 * seconds[0])
            self.assertEqual(prices, [5.0, 2.5])
            self.assertEqual(len({*hashes, headroom.predict(**QUESTION, tp=2).catalog_hash}), 3)

    def test_an_import_is_small(self):
        script = "import sys, headroom; print(sorted(set(sys.modules) & {'torch', 'numpy', 'pandas', 'transformers', 'matplotlib'}))"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=os.environ, check=True)
        self.assertEqual(done.stdout.strip(), "[]")


class Types(unittest.TestCase):
    GOOD = """
        import headroom
        plan = headroom.plan("llama-3-8b", "dgx-h100", workers=[8, 16], tokens="2T")
        answer: headroom.PredictAnswer = headroom.predict("llama-3-8b", "dgx-h100", workers=8)
        seconds: float = answer.step_seconds
        tp: int = answer.strategy.tp
        total: float = headroom.estimate_memory("llama-3-8b", "dgx-h100", workers=8).total_bytes
        import fractions

        swept = headroom.predict("llama-3-8b", "dgx-h100", workers=range(8, 17, 8), sweep={"tp": [1, 2]}, measured_step=2 * headroom.units.s)
        fixed = headroom.plan("llama-3-8b", "dgx-h100", workers={8, 16}, fix={"tp": 2}, dry_run=True)
        law = headroom.laws(serial=fractions.Fraction(1, 20), workers=(8, 16))
    """
    BAD = """
        import headroom
        answer = headroom.predict("llama-3-8b", "dgx-h100", wrokers=8)
        answer = headroom.predict("llama-3-8b", "dgx-h100", workers=8)
        text: str = answer.step_seconds
        answer.no_such_field
        headroom.plan("llama-3-8b", "dgx-h100", workers=8, dry_run="no")
    """

    def check(self, checker, text):
        with tempfile.NamedTemporaryFile("w", suffix=".py", prefix="typed_") as file:
            file.write(textwrap.dedent(text))
            file.flush()
            environment = {**os.environ, "MYPYPATH": str(pathlib.Path(headroom.__file__).parent.parent)}
            return subprocess.run([*checker, file.name], capture_output=True, text=True, env=environment, check=False)

    def test_mypy(self):
        import shutil
        mypy = shutil.which("mypy")
        if mypy is None:
            self.skipTest("mypy is not installed")
        checker = [mypy, "--strict", "--no-incremental", "--cache-dir=/dev/null"]
        good = self.check(checker, self.GOOD)
        self.assertEqual(good.returncode, 0, good.stdout + good.stderr)
        bad = self.check(checker, self.BAD)
        self.assertEqual(bad.stdout.count("error:"), 4, bad.stdout)

    def test_pyright(self):
        import shutil
        pyright = shutil.which("pyright")
        if pyright is None:
            self.skipTest("pyright is not installed (make python-packages)")
        checker = [pyright, "--pythonpath", sys.executable]
        good = self.check(checker, self.GOOD)
        if "0 errors" not in good.stdout and " error: " not in good.stdout:
            self.skipTest(f"pyright does not run here: {(good.stdout + good.stderr)[-300:]}")
        self.assertEqual(good.returncode, 0, good.stdout + good.stderr)
        bad = self.check(checker, self.BAD)
        self.assertEqual(bad.stdout.count(" error: "), 4, bad.stdout)


if __name__ == "__main__":
    unittest.main()
