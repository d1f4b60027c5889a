"""Answers of the package are those of the command line, to the last byte, and errors in Python's spelling: 500 random questions."""

import json
import os
import random
import unittest

import headroom
from headroom._verbs import Question, _option_words, table, wording

from _program import SOURCE, run

MODELS = ["llama-3-8b", "llama-3-70b", "llama-3.1-405b", "gpt3-175b", "deepseek-v3", "mixtral-8x7b", "resnet-50", "bert-large",
          "no-such-model"]
CLUSTERS = ["dgx-h100", "dgx-a100", "dgx-h200", "rtx-4090", "gb200-nvl72", "no-such-cluster"]
DATA = SOURCE / "tests" / "data"


def training(draw):
    options = {"workers": draw.choice([1, 8, 16, 64, [8, 64], range(8, 33, 8), 0, "many"]),
               "global_batch": draw.choice([None, 64, 256, 1000]),
               "sequence_length": draw.choice([None, 2048, "8k", 1.5]),
               "tokens": draw.choice([None, "2T", 3e11]),
               "precision": draw.choice([None, "bf16", "fp8", "fp7"])}
    return options


def question(draw):
    """A verb, its arguments without a name, and its options."""
    verb = draw.choice(["predict", "predict", "plan", "laws", "comm", "inference", "queue", "roofline", "tail", "graph", "catalog", "trace"])
    if verb in ("predict", "plan"):
        options = {"cluster": draw.choice(CLUSTERS), **training(draw)}
        if verb == "predict":
            options["workers"] = draw.choice([1, 8, 64, "8k", -1])
            options["tp"], options["zero"] = draw.choice([None, 1, 2, 8, 3]), draw.choice([None, 1, 3])
            options["recompute"] = draw.choice([None, "full", "selective", "some"])
        return verb, [draw.choice(MODELS)], options
    if verb == "laws":
        return verb, [], {"serial": draw.choice([0.05, "5%", 2, None]), "workers": draw.choice([64, "1..64", range(1, 9)]),
                          "gamma": draw.choice([None, 0.01])}
    if verb == "comm":
        return verb, [], {"size": draw.choice(["1GB", "64MiB", 1e6]), "ranks": draw.choice([8, [8, 16], 1]),
                          "link": draw.choice(["50GB/s,5us", "nvlink", "rope"])}
    if verb == "inference":
        return verb, [draw.choice(MODELS)], {"cluster": draw.choice(CLUSTERS), "arrivals": draw.choice([None, "10/s"])}
    if verb == "queue":
        return verb, [], {"arrivals": draw.choice(["10/s", "100/s", 5]), "service": draw.choice(["50ms", "1s", "a while"])}
    if verb == "roofline":
        return verb, [], {"machine": draw.choice(CLUSTERS)}
    files = {"tail": [*(DATA / "latencies").iterdir()], "graph": [*(DATA / "graphs").iterdir()] if (DATA / "graphs").is_dir() else [],
             "trace": [DATA / "traces" / "key_averages_cuda.txt"]}.get(verb)
    if verb == "catalog":
        return verb, draw.choice([["list", "models"], ["show", "dgx-h100"], ["list"], ["show", "nothing"]]), {}
    return verb, [draw.choice(sorted(files) or [DATA])], {}


class SameAnswers(unittest.TestCase):
    def test_random_questions(self):
        os.chdir(SOURCE)
        draw, answered, refused = random.Random(20261128), 0, 0
        questions = int(os.environ.get("HEADROOM_QUESTIONS", 500))
        for i in range(questions):
            verb, positionals, options = question(draw)
            words = [*table()[verb]["name"].split(), *map(str, positionals), *_option_words(table()[verb], options)]
            with self.subTest(question=i, words=words):
                code, out, errors = run(*words, "--format=json", "--quiet")
                mine = Question(verb, [str(each) for each in positionals], _option_words(table()[verb], options))
                my_code, my_out, my_errors, parts, _ = mine.ask("--format=json")
                self.assertEqual((my_code, my_out, my_errors), (code, out, errors))
                if out:
                    answered += 1
                    answer = getattr(headroom, verb)(*positionals, **options)
                    self.assertEqual(repr(answer.to_dict()), repr(json.loads(out)))  # whole numbers are whole in both
                    if answered % 10 == 0:
                        self.assertEqual(answer.to_csv(), run(*words, "--format=csv", "--quiet")[1])
                else:
                    refused += 1
                    with self.assertRaises(headroom.Error) as caught:
                        getattr(headroom, verb)(*positionals, **options)
                    self.assertEqual(caught.exception.exit_code, code)
                    line = errors.strip().splitlines()[-1]
                    self.assertEqual(str(caught.exception), wording(verb)(line))
                    if "--" not in line and "headroom " not in line and "MODEL" not in line:
                        self.assertEqual(str(caught.exception), line)  # nothing to spell otherwise
        self.assertGreater(answered, questions / 5)  # else the draw asks too few questions that have an answer, or that have none
        self.assertGreater(refused, questions / 25)


if __name__ == "__main__":
    unittest.main()
