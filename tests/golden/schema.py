"""`headroom schema VERB` prints what docs/schema holds, and every field says what it means."""

import json
import os
import pathlib
import subprocess

from _harness import ENVIRONMENT, PROGRAM, SCRATCH, SOURCE, check, equal, finish, run, succeed

FOLDER = SOURCE / "docs" / "schema"


def properties_of(schema):
    """Every property of the answers and of the structs that they nest, with its way."""
    objects = [(f"answer {i}", answer) for i, answer in enumerate(schema["anyOf"])]
    objects += list(schema["definitions"].items())
    for name, value in objects:
        for key, field in value["properties"].items():
            yield f"{name}.{key}", field


refused = run("schema", "no-such-verb")
equal(refused.code, 2, "an unknown verb")
check("choose from " in refused.err, f"an unknown verb: {refused.err}")
equal(run("schema", "predikt").err.strip().split(". ")[-1], "did you mean 'predict'?", "a verb that is nearly right")
equal(run("schema").code, 2, "no verb")

def compare(file, printed, how):
    """The printed schema equals the file, and every field of it has a description."""
    equal(printed, file.read_text() if file.is_file() else None, f"{file.name}: `{how} > {file.relative_to(SOURCE)}`")
    schema = json.loads(printed)
    for place, field in properties_of(schema):
        meaning = field.get("description", "")
        check(meaning.endswith(".") and not meaning[:1].islower(), f"{how}: {place} has no meaning: {meaning!r}")
        check(not meaning.startswith(("What ", "How many ", "The same", "Those ", "Of ")), f"{how}: {place} begins without its quantity: {meaning!r}")
    for name, value in [*enumerate(schema["anyOf"]), *schema["definitions"].items()]:
        equal(value["additionalProperties"], False, f"{how}: {name} takes no other key")


verbs = [word.strip(" '") for word in refused.err.split("choose from ")[1].strip().split(",")]
check(len(verbs) > 5, f"verbs that have a schema: {verbs}")
files = {FOLDER / (verb.replace(" ", "_") + ".json"): verb for verb in verbs}
for file, verb in files.items():
    compare(file, succeed("schema", *verb.split()).out, f"headroom schema {verb}")
step = pathlib.Path(os.path.realpath(PROGRAM)).parent / "headroom-step"
if step.exists():
    compare(FOLDER / "training-step.json", subprocess.run([step, "--schema"], env=ENVIRONMENT, capture_output=True, text=True).stdout, "headroom-step --schema")
equal({file.name for file in FOLDER.iterdir()}, {file.name for file in files} | {"training-step.json"}, "no schema is written by hand")

written = SCRATCH / "predict.json"
succeed("schema", "predict", "--out", written)
equal(written.read_text(), run("schema", "predict").out, "--out")

finish()
