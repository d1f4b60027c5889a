#!/usr/bin/python3
"""move_to_rooms.py, run in the root of a checkout: moves the core's headers, sources and names into rooms by product.

A tool for one step, to be removed with it: headers to core/include/headroom/ROOM/, sources to core/src/ROOM/, names to
namespace headroom::ROOM. It does nothing where all is moved. What its map does not know is placed by rules and reported with "!!".
"""

import collections
import os
import pathlib
import re
import subprocess
import sys

ROOM_LIST = ("laws", "network", "measure", "training", "trace", "serving")
# What each room may use besides itself and the base.
ALLOWED = {
    "base": (),
    "laws": (),
    "network": (),
    "measure": ("laws",),
    "training": ("laws", "network"),
    "trace": ("laws", "network"),
    "serving": ("laws", "network", "training", "trace"),
}

HEADERS = {}
for room_, names_ in {
    "base": """quantity error precision share ranks executor machine counter_random term timeline sample_statistics
               order_statistics field fields text""",
    "laws": "laws scale_up scaling_laws step_curve dag schedule task_graph graph_answer roofline counted_kernels laws_answers",
    "network": """group collective collective_algorithm comparison layout library_collectives message_cost message_schedule
                  nccl_tuning topology fair_share flow_simulation expert_exchange compression gradient_compression
                  local_updates server bucketed_exchange simulated_collectives measured_network
                  measured_collective comm_question comm_answer""",
    "measure": "measurement run_order pair_rounds repeat_interval measured_roofline",
    "trace": """rank_trace rank_digest trace_answer trace_breakdown trace_collectives trace_path trace_slowdown""",
    "serving": """latency_digest latency_histogram latency_statistics fan_out queue queue_choices queue_simulation
                  request_rate tail_distribution serving serving_simulation request_record inference_answer latency_samples
                  percentile queue_report tail_answer""",
    "training": """accuracy_measures assume calibration consequences critical_batch extrapolation framework goodput kernel
                   left_out legality likeness memory model operation pipeline pipeline_length pipeline_schedule placement
                   plan plan_choice prediction run scale_validation simulated_step simulation_agreement step step_roofline
                   strategy stream_simulation training_laws utilization_check validation warm_start training_answers pass_picture stated_calibration validation_answer
                   step_laws_answers step_roofline_answer""",
}.items():
    for name_ in names_.split():
        HEADERS[name_] = room_
# Headers that others add: the first prefix that fits.
PREFIXES = [
    ("trace", "trace"), ("rank_", "trace"),
    ("field", "base"),
    ("tail", "serving"), ("queue", "serving"), ("latency", "serving"), ("serving", "serving"), ("inference", "serving"),
    ("request", "serving"), ("replica", "serving"), ("hedg", "serving"),
    ("measured_steps", "training"), ("measure", "measure"), ("repeat", "measure"), ("campaign", "measure"),
    ("graph", "laws"), ("dag", "laws"), ("laws", "laws"), ("scaling", "laws"), ("scale_up", "laws"), ("roofline", "laws"),
    ("comm", "network"), ("collective", "network"), ("network", "network"), ("message", "network"), ("nccl", "network"),
    ("topology", "network"), ("flow", "network"),
    ("plan", "training"), ("predict", "training"), ("step", "training"), ("memory", "training"), ("model", "training"),
    ("strategy", "training"), ("valid", "training"), ("calibrat", "training"), ("pipeline", "training"),
    ("assum", "training"), ("default", "training"), ("left_out", "training"), ("framework", "training"),
    ("pace", "training"), ("pool", "training"), ("evidence", "training"),
]

FOLDERS = {
    "quantity": "base/quantity", "machine": "base/machine", "statistics": "base/statistics",
    "graph": "laws/graph", "laws": "laws", "roofline": "laws/roofline",
    "network": "network",
    "measure": "measure",
    "training": "training", "pipeline": "training/pipeline", "planner": "training/planner",
    "reliability": "training/reliability", "simulation": "training/simulation", "visits": "training/visits",
    "workload": "training/workload",
    "trace": "trace",
    "serving": "serving", "tail": "serving/tail", "queueing": "serving/queueing",
}
SOURCES = {
    "roofline/kernel.cpp": "training/kernel.cpp",
    "roofline/measured_roofline.cpp": "measure/measured_roofline.cpp",
    "roofline/measured_doubts.cpp": "measure/measured_doubts.cpp",
    "statistics/measurement.cpp": "measure/measurement.cpp",
    "statistics/run_order.cpp": "measure/run_order.cpp",
    "statistics/repeat_interval.cpp": "measure/repeat_interval.cpp",
    "statistics/critical_batch.cpp": "training/critical_batch.cpp",
    "tail/order_statistics.cpp": "base/statistics/order_statistics.cpp",
    "network/placement.cpp": "training/placement.cpp",
    "training/measured_network.cpp": "network/measured_network.cpp",
    "pair_rounds.cpp": "measure/pair_rounds.cpp",
    "training/training_laws.cpp": "training/laws.cpp",
    "simulation/event_queue.hpp": "base/events/event_queue.hpp",
    "simulation/moments.hpp": "base/events/moments.hpp",
    "simulation/alarms.hpp": "base/events/alarms.hpp",
}
EVENT_NAMES = r"(?:EventQueue|Ties|run_moments|Alarms)"
CODE = (".hpp", ".cpp", ".h", ".cu", ".cuh")
LIBRARIES = ("core", "fit", "io", "probe", "cli", "bench", "tests", "tools", "web", "python")

loud = []


def shout(*words):
    text = " ".join(map(str, words))
    if text not in loud:
        loud.append(text)
        print("!!", text, file=sys.stderr)


# ---- reading C++ --------------------------------------------------------------------------------------------------

NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"'
                   r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])'", re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.M)
INCLUDE = re.compile(r'^([ \t]*#[ \t]*include[ \t]*")([^"]+)(")', re.M)
NAMESPACE = re.compile(r"(?:inline\s+)?namespace\s*([\w:]*)\s*$")

MEMBERS = re.compile(r"\)\s*(?:noexcept\s*)?:(?!:)")

blank_cache = {}


def white(match):
    return re.sub(r"[^\n]", " ", match[0])


def blank(text):
    """The text with comments, literals and preprocessor lines blanked; offsets stay."""
    known = blank_cache.get(text)
    if known is None:
        known = DIRECTIVE.sub(white, NOISE.sub(white, text))
        if len(blank_cache) > 6000:
            blank_cache.clear()
        blank_cache[text] = known
    return known


class Item:
    """A declaration at namespace scope."""

    def __init__(self, namespace, head, start, end, body):
        self.namespace, self.head, self.start, self.end, self.body = namespace, head, start, end, body


class Block:
    """A namespace in braces."""

    def __init__(self, name, around, open_start, open_end):
        self.name, self.around, self.open_start, self.open_end = name, around, open_start, open_end
        self.close = None

    def full(self):
        return "::".join([*self.around, self.name]) if self.name else "::".join([*self.around, ""])


def parse(text):
    """Items and namespace blocks, in order."""
    clean = blank(text)
    items, blocks, open_blocks = [], [], []
    i = start = parens = 0
    size = len(clean)

    def space():
        return tuple(part for block in open_blocks for part in (block.name.split("::") if block.name else [""]))

    def finish(end, body):
        line_end = text.find("\n", end)
        line_end = size if line_end < 0 else line_end
        tail = text[end:line_end].strip()
        stop = line_end if tail.startswith("//") else end
        head = clean[start:end].strip().rstrip(";").strip()
        if body is not None:
            head = clean[start:body].strip()
        if head:
            items.append(Item(space(), head, start, stop, body is not None))
        return stop

    while i < size:
        c = clean[i]
        if c in "([":
            parens += 1
        elif c in ")]":
            parens -= 1
        elif parens == 0 and c == ";":
            start = i = finish(i + 1, None)
            continue
        elif parens == 0 and c == "}":
            if open_blocks:
                block = open_blocks.pop()
                block.close = i
            line_end = text.find("\n", i)
            line_end = size if line_end < 0 else line_end
            start = i = line_end if text[i + 1:line_end].strip().startswith("//") else i + 1
            continue
        elif parens == 0 and c == "{":
            head = clean[start:i].strip()
            match = NAMESPACE.match(head)
            linkage = re.match(r"extern\s*$", head)
            if match:
                block = Block(match[1], [b.name for b in open_blocks], start + clean[start:i].index("namespace"), i + 1)
                open_blocks.append(block)
                blocks.append(block)
                start = i + 1
            elif linkage:  # extern "C" { : its string is blanked
                block = Block("", [b.name for b in open_blocks], i, i + 1)
                open_blocks.append(block)
                start = i + 1
            else:
                depth, j = 1, i + 1
                while depth and j < size:
                    depth += {"{": 1, "}": -1}.get(clean[j], 0)
                    j += 1
                first = re.split(r"[({=]", strip_templates(head), maxsplit=1)[0]
                is_type = re.search(r"\b(struct|class|enum|union)\b", first) and "(" not in strip_templates(head)
                if MEMBERS.search(strip_templates(head)) and re.search(r"[\w>]$", head) and not re.search(
                        r"\b(const|override|final|noexcept|try)$", head):
                    depth, i = 1, i + 1  # a member of a constructor's list
                    while depth and i < size:
                        depth += {"{": 1, "}": -1}.get(clean[i], 0)
                        i += 1
                    continue
                is_function = ")" in head and not is_type and not re.search(r"=\s*$|=[^=].*$", after_parameters(head))
                if is_function:
                    start = finish(j, i)
                    i = start
                    continue
                match = re.compile(r"[^;]*;").match(clean, j)
                end = match.end() if match else j
                start = finish(end, i)
                i = start
                continue
        i += 1
    if open_blocks or parens:
        raise ValueError("braces are not understood")
    return items, blocks


def strip_templates(head):
    head = re.sub(r"operator\s*(<=>|<<|>>|<=|>=|<|>)", "operator_", head)
    while True:
        less = re.sub(r"<[^<>()]*(?:\([^()]*\)[^<>()]*)*>", "", head)
        if less == head:
            return head
        head = less


def after_parameters(head):
    return head[head.rfind(")") + 1:] if ")" in head else head


def declared(item):
    """Names of an item: (name, kind), kind of type, forward, function, variable."""
    head = re.sub(r"\[\[.*?\]\]", "", item.head)
    if re.match(r"\s*(using\s+namespace|static_assert|extern\b|friend\b|template\s+(?!<))", head):
        return []
    match = re.match(r"(?:template\s*<.*>\s*)?using\s+(\w+)\s*=", head, re.S)
    if match:
        return [(match[1], "type")]
    if re.match(r"using\b|namespace\b", head):
        return []
    special = re.match(r"template\s*<\s*>", head)
    head = strip_templates(head)
    head = re.sub(r"^\s*template\b\s*", "", head).strip()
    head = re.sub(r"^requires\b.*?(?=\b(struct|class|auto|inline|constexpr|void|bool|double|int)\b)", "", head, flags=re.S)
    if special:
        return []
    match = re.match(r"(?:enum(?:\s+class|\s+struct)?|struct|class|union)\s+(\w+)\s*(?:final\s*)?(?::[^{(]*)?$", head, re.S)
    if match:
        return [(match[1], "type" if item.body else "forward")]
    match = re.match(r"concept\s+(\w+)", head)
    if match:
        return [(match[1], "type")]
    call = re.search(r"([\w:~]+|operator[^(]*)\s*\(", head)
    equal = re.search(r"[={]", head)
    if call and (not equal or call.start() < equal.start()):
        return [] if "::" in call[1] else [(call[1], "function")]
    match = re.search(r"([\w:]+)\s*(?:\[[^\]]*\]\s*)*(?:=|\{|$)", head)
    if not match or "::" in match[1]:
        return []
    names = [(match[1], "variable")]
    return names


# ---- the checkout in memory ---------------------------------------------------------------------------------------

texts = {}      # path as it is now -> text
moved = {}      # path as it is now -> path as it will be
original = {}


def git(*words):
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout


def check_parse():
    for path, text in texts.items():
        try:
            _, blocks = parse(text)
        except ValueError as error:
            shout(path, error)


def load():
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for path in listed:
        if path and path.endswith(CODE) and os.path.isfile(path) and path.split("/")[0] in LIBRARIES:
            texts[path] = original[path] = pathlib.Path(path).read_text(encoding="utf-8")


def library_of(path):
    return path.split("/")[0]


def is_header(path):
    return path.endswith((".hpp", ".h", ".cuh"))


def stem(path):
    return path.rsplit("/", 1)[1].rsplit(".", 1)[0]


PUBLIC = "core/include/headroom/"
PRIVATE = "core/src/"

room_guess = {}
rooms_before = set()  # rooms that were there before this run


def room_of_header(path):
    """The room of a public header of core, by its path now."""
    rest = path[len(PUBLIC):]
    if "/" in rest:
        folder = rest.split("/")[0]
        if folder not in ROOM_LIST:
            shout(path, "is in a folder that is no room")
            return "base"
        return folder
    name = rest.rsplit(".", 1)[0]
    if name in HEADERS:
        return HEADERS[name]
    if path in room_guess:
        return room_guess[path]
    room_guess[path] = "base"  # stops a cycle of includes
    room = next((room for prefix, room in PREFIXES if name.startswith(prefix)), None)
    why = "its name"
    if room is None:
        for other in texts:
            if other.startswith(PRIVATE) and stem(other) == name and other.endswith(".cpp"):
                folder = other[len(PRIVATE):].split("/")[0]
                if folder in FOLDERS:
                    room, why = FOLDERS[folder].split("/")[0], f"the folder of {other}"
    needs = {room_of_header(PUBLIC + include[9:]) for _, include, _ in INCLUDE.findall(texts[path])
             if include.startswith("headroom/") and PUBLIC + include[9:] in texts}
    if room is None:
        needs -= {"base"}
        room = next((one for one in ROOM_LIST if needs <= {one, *ALLOWED[one]}), "training") if needs else "base"
        why = "its includes"
    shout(path, "is not in the map: room", room, "by", why)
    room_guess[path] = room
    return room


def target_of(path):
    """Where a file goes."""
    if path.startswith(PUBLIC):
        rest = path[len(PUBLIC):]
        room = room_of_header(path)
        if "/" in rest or room == "base":
            return path
        return PUBLIC + room + "/" + ("laws.hpp" if rest == "training_laws.hpp" else rest)
    if path.startswith(PRIVATE):
        rest = path[len(PRIVATE):]
        if rest in SOURCES:
            return PRIVATE + SOURCES[rest]
        folder, _, inner = rest.partition("/")
        if not inner:
            header = PUBLIC + folder.rsplit(".", 1)[0] + ".hpp"
            room = room_of_header(header) if header in texts else "base"
            shout(path, "is in no folder: room", room)
            return PRIVATE + room + "/" + folder
        if folder in ROOM_LIST and folder not in FOLDERS or folder == "base":
            return path
        if folder not in FOLDERS:
            header = PUBLIC + stem(path) + ".hpp"
            neighbours = [room_of_header(PUBLIC + stem(other) + ".hpp") for other in sorted(texts)
                          if other.startswith(PRIVATE + folder + "/") and PUBLIC + stem(other) + ".hpp" in texts]
            room = collections.Counter(neighbours).most_common(1)[0][0] if neighbours else "training"
            shout(PRIVATE + folder, "is not in the map: room", room)
            return PRIVATE + room + "/" + rest
        new = FOLDERS[folder]
        header = PUBLIC + stem(path) + ".hpp"
        if path.endswith(".cpp") and header in texts:
            room = room_of_header(header)
            if room != new.split("/")[0]:
                shout(path, "follows its header to", room)
                return f"{PRIVATE}{room}/{path.rsplit('/', 1)[1]}"
        return PRIVATE + new + "/" + inner
    return path


def room_at(path):
    """The room of a file by the path that it will have; None outside of core."""
    if path.startswith(PUBLIC):
        rest = path[len(PUBLIC):]
        return rest.split("/")[0] if "/" in rest else "base"
    if path.startswith(PRIVATE):
        return path[len(PRIVATE):].split("/")[0]
    return None


def room(path):
    return room_at(moved.get(path, path))


# ---- includes -----------------------------------------------------------------------------------------------------

SEARCHED = ("core/include", "fit/include", "io/include", "probe/include")


def resolve(path, include, exists):
    """The file that a quoted include names."""
    library = library_of(path)
    folders = [os.path.dirname(path), f"{library}/src", library, *SEARCHED, "core/src", "io/src", "fit/src", "probe/src",
               "probe", "cli/src", "tests", "bench"]
    if library == "core":
        folders = folders[:6]
    for folder in folders:
        candidate = os.path.normpath(f"{folder}/{include}")
        if candidate in exists:
            return candidate
    return None


def includes_of(path):
    return [found for found in (resolve(path, include, texts) for _, include, _ in INCLUDE.findall(texts[path])) if found]


def closure(direct):
    """Every file that a file reaches by includes, itself too."""
    known = {}

    def reach(path):
        seen, todo = {path}, [path]
        while todo:
            for other in direct.get(todo.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen

    for path in direct:
        known[path] = reach(path)
    return known


def add_include(path, include):
    text = texts[path]
    if f'"{include}"' in text:
        return
    line = f'#include "{include}"\n'
    found = list(INCLUDE.finditer(text))
    ours = [m for m in found if m[2].startswith("headroom/")]
    own = f"headroom/{stem(path)}.hpp"
    if ours and not (len(ours) == 1 and ours[0][2].endswith("/" + stem(path) + ".hpp") and path.endswith(".cpp")):
        at = text.index("\n", ours[-1].end()) + 1
        texts[path] = text[:at] + line + text[at:]
        return
    del own
    if found:
        at = text.index("\n", found[-1].end()) + 1
        texts[path] = text[:at] + "\n" + line + text[at:]
        return
    angle = re.search(r"^#include <", text, re.M)
    pragma = re.search(r"^#pragma once\n", text, re.M)
    if angle:
        texts[path] = text[:angle.start()] + line + "\n" + text[angle.start():]
    elif pragma:
        texts[path] = text[:pragma.end()] + "\n" + line + text[pragma.end():]
    else:
        texts[path] = line + "\n" + text


# ---- declarations that change their file --------------------------------------------------------------------------

def take(path, names):
    """Cuts the declarations and definitions of these names out of a file; their text."""
    text = texts[path]
    items, _ = parse(text)
    cut = []
    for item in items:
        found = {name for name, _ in declared(item)}
        if not found:  # a member that is defined outside of its class
            match = re.search(r"(\w+)::[\w~]+\s*\(", item.head)
            found = {match[1]} if match else set()
        if found & set(names):
            cut.append(item)
    taken = "\n\n".join(text[item.start:item.end].strip("\n") for item in cut)
    joined = []
    for item in cut:
        piece = text[item.start:item.end]
        joined.append(("\n" if piece.startswith("\n\n") or not joined else "") + piece.strip("\n"))
    taken = "\n".join(joined).strip("\n")
    for item in reversed(cut):
        text = text[:item.start] + text[item.end:]
    texts[path] = re.sub(r"\n{3,}", "\n\n", text)
    return taken


def create(path, text):
    if path in texts:
        shout(path, "exists already")
        return
    texts[path] = text
    original[path] = None


def append(path, code):
    """Adds code at the end of the last namespace of a file."""
    text = texts[path]
    _, blocks = parse(text)
    last = [block for block in blocks if not block.around][-1]
    at = last.close
    before = text[:at].rstrip("\n")
    texts[path] = before + "\n\n" + code + "\n\n" + text[at:]


def drop_include(path, include):
    texts[path] = texts[path].replace(f'#include "{include}"\n', "", 1)


def angle_includes(path):
    return re.findall(r"^#include <[^>]+>\n", texts[path], re.M)


def split_ticks():
    dag, timeline = PUBLIC + "dag.hpp", PUBLIC + "timeline.hpp"
    if dag not in texts or not re.search(r"^using Ticks =", texts[dag], re.M):
        return
    code = take(dag, ["Ticks"])
    text = texts[timeline]
    at = text.index("namespace headroom {\n") + len("namespace headroom {\n")
    texts[timeline] = text[:at] + "\n" + code + "\n" + text[at:]
    add_include(dag, "headroom/timeline.hpp")
    others = {name for item in parse(texts[dag])[0] for name, _ in declared(item)}
    for path in texts:
        if room(path) == "network" and '"headroom/dag.hpp"' in texts[path]:
            if not others & set(WORD.findall(blank(texts[path]))):
                texts[path] = texts[path].replace('"headroom/dag.hpp"', '"headroom/timeline.hpp"')


def split_group():
    header, source = PUBLIC + "placement.hpp", PRIVATE + "network/placement.cpp"
    if header not in texts or not re.search(r"^struct Group \{", texts[header], re.M):
        return
    code = take(header, ["Group", "group_of", "DimensionGroups"])
    create(PUBLIC + "group.hpp", "#pragma once\n\n#include <compare>\n\nnamespace headroom {\n\n" + code + "\n\n} // namespace headroom\n")
    texts[header] = texts[header].replace("#include <compare>\n\n", "")
    add_include(header, "headroom/group.hpp")
    code = take(source, ["group_of"])
    create(PRIVATE + "network/group.cpp", '#include "headroom/group.hpp"\n\n#include <algorithm>\n\nnamespace headroom {\n\n'
           + code + "\n\n} // namespace headroom\n")
    for path in texts:
        if path.startswith((PUBLIC, PRIVATE)) and path not in (header, source) and room(path) == "network":
            texts[path] = texts[path].replace('"headroom/placement.hpp"', '"headroom/group.hpp"')


def split_measured_network():
    header, source = PUBLIC + "measured_network.hpp", PRIVATE + "training/measured_network.cpp"
    if header not in texts or not re.search(r"^void use_measured_links\(", texts[header], re.M):
        return
    code = take(header, ["use_measured_links", "CalibrationSet"])
    code = re.sub(r"^struct CalibrationSet;\n+", "", code)
    append(PUBLIC + "calibration.hpp", code)
    texts[PRIVATE + "training/measured_links.cpp"] = texts[source]
    original[PRIVATE + "training/measured_links.cpp"] = None
    links = PRIVATE + "training/measured_links.cpp"
    take(source, ["constant_of", "use_link", "use_measured_links"])
    names = {name for item in parse(texts[source])[0] for name, _ in declared(item)}
    take(links, [*names, "MeasuredCurve", "MeasuredNetwork"])
    for include in ("headroom/calibration.hpp", "headroom/step.hpp"):
        drop_include(source, include)
    texts[source] = re.sub(r'("headroom/measured_network.hpp"\n)\n+', r"\1\n", texts[source], count=1)
    texts[links] = texts[links].replace('#include "headroom/measured_network.hpp"\n\n', "")
    texts[links] = re.sub(r"^#include <(algorithm|cmath)>\n", "", texts[links], flags=re.M)


def split_laws():
    header, source = PUBLIC + "laws.hpp", PRIVATE + "laws/laws.cpp"
    if header not in texts or not re.search(r"^struct DataParallel \{", texts[header], re.M):
        return
    names = """DataParallel compute_time_data_parallel gradient_all_reduce break_even_workers weak_scaling_gamma
               local_batch_at_break_even parameters_at_latency_crossover training_flops_6n pipeline_bubble_fraction
               pipeline_speedup StateBytes adam_fp32_bytes_per_parameter zero3_state_bytes""".split()
    code = take(header, names)
    create(PUBLIC + "training_laws.hpp", '#pragma once\n\n#include "headroom/quantity.hpp"\n#include "headroom/ranks.hpp"\n\n'
           "namespace headroom {\n\n" + code + "\n\n} // namespace headroom\n")
    code = take(source, names)
    create(PRIVATE + "training/training_laws.cpp", '#include "headroom/training_laws.hpp"\n\n#include "headroom/collective.hpp"\n\n'
           "#include <cmath>\n\nnamespace headroom {\n\n" + code + "\n\n} // namespace headroom\n")
    drop_include(source, "headroom/collective.hpp")
    if "std::" not in re.sub(r"std::(optional|nullopt|int64_t)", "", texts[source]):
        texts[source] = texts[source].replace("#include <cmath>\n\n", "")
    texts[source] = re.sub(r"\n{3,}", "\n\n", texts[source])


def split_quantile():
    header, source = PUBLIC + "validation.hpp", PRIVATE + "training/validation.cpp"
    if header not in texts or not re.search(r"^double quantile\(", texts[header], re.M):
        return
    code = take(header, ["quantile"])
    append(PUBLIC + "order_statistics.hpp", code)
    code = take(source, ["quantile"])
    statistics = PRIVATE + "tail/order_statistics.cpp"
    append(statistics, code)
    for path, include in ((PUBLIC + "order_statistics.hpp", "vector"), (statistics, "algorithm"), (statistics, "vector")):
        if f"#include <{include}>" not in texts[path]:
            texts[path] = re.sub(r"(#include <)", rf"#include <{include}>\n\1", texts[path], count=1)
    add_include(source, "headroom/order_statistics.hpp")
    others = {name for item in parse(texts[header])[0] for name, _ in declared(item)}
    for path in texts:
        if room(path) == "trace" and '"headroom/validation.hpp"' in texts[path]:
            if not others & set(WORD.findall(blank(texts[path]))):
                texts[path] = texts[path].replace('"headroom/validation.hpp"', '"headroom/order_statistics.hpp"')


def free_ceilings():
    """The roofline does not know the step model: it takes the rates that kernels sustain."""
    header, source = PUBLIC + "roofline.hpp", PRIVATE + "roofline/ceilings.cpp"
    old = re.compile(r"(calibrated_ceilings\(Processor const& processor, NumberFormat format,\s*)KernelRates const& rates\)")
    if header not in texts or not old.search(texts[header]):
        return
    for path in (header, source):
        texts[path] = old.sub(r"\1FlopsPerSecond gemm,\n                                         BytesPerSecond sustained)",
                              texts[path])
    items, _ = parse(texts[source])
    item = next(item for item in items if ("calibrated_ceilings", "function") in declared(item))
    body = texts[source][item.start:item.end]
    body = body.replace("rates.gemm", "gemm").replace("rates.memory", "sustained")
    if re.search(r"\brates\b", body):
        shout(source, "calibrated_ceilings uses more of KernelRates than two rates")
    texts[source] = texts[source][:item.start] + body + texts[source][item.end:]
    texts[header] = re.sub(r"/// The ceilings that the step model computes with: sustained shares of the generation\.\n",
                           "/// The ceilings of sustained rates: of large products, and of main memory.\n", texts[header])
    drop_include(header, "headroom/kernel.hpp")
    add_include(header, "headroom/machine.hpp")
    for path in texts:
        if path not in (header, source):
            texts[path] = re.sub(r"(calibrated_ceilings\([^;{]*?, )(\w+(?:\.\w+)*)\)(?=\)|;| \{)", r"\1\2.gemm, \2.memory)", texts[path])


def rename_measure():
    """`measure` is a room; work and depth of a graph have a name of their own."""
    header = PUBLIC + "dag.hpp"
    if header not in texts or not re.search(r"^DagMeasure measure\(", texts[header], re.M):
        return
    direct = {path: includes_of(path) for path in texts}
    reach = closure(direct)
    for path in texts:
        if header not in reach[path]:
            continue
        clean = blank(texts[path])
        if path not in (header, PRIVATE + "graph/measure.cpp") and declares_locally(clean, "measure"):
            continue  # one of its own
        for match in reversed(list(re.finditer(r"(?<![\w.>:])measure\(", clean))):
            texts[path] = texts[path][:match.start()] + "dag_measure(" + texts[path][match.end():]
        texts[path] = re.sub(r"`measure`(?=[^\n]*)", "`dag_measure`", texts[path]) if path == header else texts[path]


def rename_events():
    """What several rooms' simulations stand on is of the base."""
    files = [PRIVATE + f"simulation/{name}.hpp" for name in ("event_queue", "moments", "alarms")]
    if not any(path in texts for path in files):
        return
    for path in files:
        if path in texts:
            texts[path] = re.sub(r"\bnamespace headroom::simulation\b", "namespace headroom::events", texts[path])
    for path in texts:
        if path in files:
            continue
        clean = blank(texts[path])
        text = texts[path]
        if not re.search(r"simulation/(event_queue|moments|alarms)\.hpp|\b" + EVENT_NAMES + r"\b", text):
            continue
        if library_of(path) == "tests" and not re.search(r'"simulation/(?!event_queue|moments|alarms)', text):
            texts[path] = re.sub(r"\bnamespace headroom::simulation\b", "namespace headroom::events", text)
            texts[path] = re.sub(r"(?<![\w:])simulation::(?=" + EVENT_NAMES + r"\b)", "events::", texts[path])
            continue
        simulates = re.search(r"namespace (headroom::)?simulation\b", clean)
        for match in reversed(list(re.finditer(r"(?<![\w.>])(?:(simulation)::)?(" + EVENT_NAMES + r")\b", clean))):
            if match[1] is None and (clean[:match.start()].endswith("::") or not simulates or clean[:match.start()].endswith("TEST(")):
                continue
            text = text[:match.start()] + "events::" + match[2] + text[match.end():]
        texts[path] = text


def rename_step_example():
    """The measured training step of `probe` is no part of the room `training`."""
    if not any(path.startswith("probe/step/") and "namespace headroom::training {" in text for path, text in texts.items()):
        return
    for path in list(texts):
        text = texts[path]
        if path.startswith("probe/step/"):
            text = re.sub(r"\bheadroom::training\b", "headroom::step_example", text)
        elif any(re.search(r'"(?:\.\./)*(?:probe/)?step/', line) for line in re.findall(r"^#include[^\n]*", text, re.M)):
            text = re.sub(r"\bheadroom::training\b", "headroom::step_example", text)
            text = re.sub(r"(?<![:\w])training::(?=\w)", "step_example::", text)
        texts[path] = text


# ---- names --------------------------------------------------------------------------------------------------------

class Index:
    """The names of core by room, and which files declare them."""

    def __init__(self):
        self.where = collections.defaultdict(set)      # name -> {(path, kind)}
        self.nested = collections.defaultdict(set)     # namespace below headroom -> {room}
        self.heads = collections.defaultdict(set)      # (name, path) -> heads
        self.foreign = collections.defaultdict(set)    # type name -> {path} outside of core
        for path, text in texts.items():
            core = library_of(path) == "core"
            if not core and not is_header(path):
                continue
            items, blocks = parse(text)
            own = room(path)
            if core:
                for block in blocks:
                    parts = "::".join([*block.around, block.name]).split("::")
                    if parts[0] == "headroom" and "" not in parts and len(parts) > 1:
                        inner = parts[2:] if parts[1] == own else parts[1:]
                        if inner:
                            self.nested[inner[0]].add(own)
            if not is_header(path):
                continue
            for item in items:
                space = item.namespace
                for name, kind in declared(item):
                    if kind == "forward" or name.startswith("operator"):
                        continue
                    if core and space in (("headroom",), ("headroom", own)):
                        self.where[name].add((path, kind))
                        self.heads[name, path].add(item.head)
                    elif not core and space[:1] == ("headroom",) and kind == "type":
                        self.foreign[name].add(path)


def rooms_of(index, name, reached):
    return {room(path) for path, _ in index.where.get(name, ()) if path in reached}


WORD = re.compile(r"[A-Za-z_]\w*")
KEYWORDS = set("return else case throw co_return co_yield goto not and or delete new sizeof in".split())


def before(clean, at):
    """The last character that is no blank before a place, and the word that ends there."""
    i = at - 1
    while i >= 0 and clean[i] in " \t\n":
        i -= 1
    if i < 0:
        return "", "", -1
    j = i
    while j >= 0 and (clean[j].isalnum() or clean[j] == "_"):
        j -= 1
    return clean[i], clean[j + 1:i + 1], i


def declares_locally(clean, name):
    """Whether a file declares a variable, parameter, member or function of this name somewhere."""
    for match in re.finditer(r"(?<![\w])" + name + r"\b", clean):
        last, word, at = before(clean, match.start())
        follows = clean[match.end():match.end() + 40].lstrip()[:2]
        if word and word not in KEYWORDS and (last.isalnum() or last == "_"):
            return True
        if last == ">" and not clean[:at].endswith("-") and not follows.startswith("::"):
            return True
        if last in "&*" and at > 0 and clean[at - 1] not in " &(\n":
            return True
        if last == "&" and at > 1 and clean[at - 1] == "&" and clean[at - 2] not in " (\n":
            return True
        if last in "[," and follows[:1] == "=" and follows != "==":
            return True
        if last == "," and follows[:1] in (";", ",", "=") and False:
            return True
    return False


def uses(index, path, reached, qualify):
    """Places of names of other rooms in a file: (start, end, room)."""
    text = texts[path]
    clean = blank(text)
    own = room(path)
    items, _ = parse(text)
    mine = set(re.findall(r"\b(?:struct|class|enum class|enum|union|typename|using|concept)\s+(\w+)\s*(?:final\s*)?[{:=>,]", clean))
    forward = {name for item in items for name, kind in declared(item) if kind == "forward"}
    found = []
    for match in WORD.finditer(clean):
        name = match[0]
        spaced = name in index.nested and clean[match.end():match.end() + 2] == "::"
        if not spaced and name not in index.where:
            continue
        last, word, at = before(clean, match.start())
        if last == "." or (last == ">" and clean[at - 1] == "-") or (last == ":" and clean[at - 1] == ":"):
            continue
        follows = clean[match.end():match.end() + 60].lstrip()
        if spaced:
            rooms = index.nested[name]
            if len(rooms) != 1 or name in ROOM_LIST:
                continue
            (target,) = rooms
            if target not in (own, "base"):
                found.append((match.start(), match.end(), target, name))
            continue
        if name in mine:
            continue
        rooms = rooms_of(index, name, reached)
        kinds = {kind for other, kind in index.where[name] if other in reached}
        if not rooms or own in rooms or "base" in rooms:
            if not rooms and name in forward:
                rooms = {room(other) for other, _ in index.where[name]}
            else:
                continue
        if len(rooms) > 1:
            if kinds <= {"function"}:
                continue  # overloads: found by their arguments
            if qualify:
                shout(path, name, "is in several rooms:", *sorted(rooms))
                continue
            for target in rooms:
                found.append((match.start(), match.end(), target, name))
            continue
        (target,) = rooms
        if any(other in reached and other.split("/")[0] == library_of(path) for other in index.foreign.get(name, ())):
            continue
        if kinds == {"function"}:
            if not (follows.startswith("(") or (last in "(,&" and follows[:1] in ",)")):
                continue
            if declares_locally(clean, name):
                continue
        elif "type" not in kinds and declares_locally(clean, name):
            continue
        elif word in ("struct", "class", "enum", "union") and follows.startswith(("{", ":")):
            continue
        found.append((match.start(), match.end(), target, name))
    return found


# ---- writing namespaces and names ---------------------------------------------------------------------------------

def rename_namespaces(path, nested):
    """headroom -> headroom::ROOM in the files of a room; nested namespaces of core elsewhere follow."""
    own = room(path)
    text = texts[path]
    _, blocks = parse(text)
    edits = []
    if own in rooms_before and any(block.name.split("::")[:2] == ["headroom", own] for block in blocks):
        return
    for block in blocks:
        if block.around or not block.name.startswith("headroom"):
            continue
        parts = block.name.split("::")
        if own and own != "base":
            if len(parts) > 1 and parts[1] == own:
                continue
            new = "::".join(["headroom", own, *parts[1:]])
        elif own is None and len(parts) > 1 and parts[1] in nested and parts[1] not in ROOM_LIST:
            (target,) = nested[parts[1]] if len(nested[parts[1]]) == 1 else ("base",)
            if target == "base":
                continue
            new = "::".join(["headroom", target, *parts[1:]])
        else:
            continue
        edits.append((block, new))
    for block, new in reversed(edits):
        close = block.close
        line_end = text.find("\n", close)
        line_end = len(text) if line_end < 0 else line_end
        text = text[:close] + "} // namespace " + new + text[line_end:]
        text = text[:block.open_start] + "namespace " + new + " {" + text[block.open_end:]
    if own and own != "base":
        text = re.sub(rf"^[ \t]*using {own}::\w+;\n", "", text, flags=re.M)
        clean = blank(text)
        for match in reversed(list(re.finditer(rf"(?<![\w:.>]){own}::(?=\w)", clean))):
            text = text[:match.start()] + text[match.end():]
    texts[path] = text
    if own and own != "base":
        unwrap(path, own)


def unwrap(path, own):
    """namespace headroom::trace { namespace trace { ... } } needs no inner one."""
    text = texts[path]
    _, blocks = parse(text)
    for block in reversed(blocks):
        if block.name == own and block.around == [f"headroom::{own}"]:
            end = text.find("\n", block.close)
            text = text[:block.close].rstrip("\n") + "\n" + text[end + 1:]
            at = text.find("\n", block.open_end)
            text = text[:block.open_start] + text[at + 1:].lstrip("\n")
    texts[path] = text


def conflicts():
    """Libraries that have a namespace of their own named as a room: {library: rooms}."""
    found = collections.defaultdict(set)
    for path, text in texts.items():
        library = library_of(path)
        if library == "core":
            continue
        for block in parse(text)[1]:
            parts = "::".join([*block.around, block.name]).split("::")
            for part in parts[2:]:
                if part in ROOM_LIST:
                    found[library].add(part)
    return found


def by_argument(index, name, path):
    """Whether a call finds this function by the namespace of an argument."""
    target = room(path)
    for head in index.heads[name, path]:
        words = set(re.findall(r"\b[A-Z]\w*", head[head.find("("):]))
        if not any(room(other) == target for word in words for other, _ in index.where.get(word, ())):
            return False
    return True


def qualify_hidden(path, index, reached):
    """Calls of another room's function where the own room has one of that name, which would hide it."""
    own = room(path)
    if own in (None, "base"):
        return
    text = texts[path]
    clean = blank(text)
    edits = []
    for match in re.finditer(r"(?<![\w.>:])([a-z]\w*)\(", clean):
        name = match[1]
        where = {other for other, _ in index.where.get(name, ())}
        mine = {other for other in where if room(other) == own}
        others = {other for other in where & reached if room(other) not in (own,)}
        if not mine or not others or all(by_argument(index, name, other) for other in others):
            continue
        if declares_locally(clean, name):
            continue
        rooms = {room(other) for other in others}
        if mine & reached or len(rooms) > 1:
            continue  # both are seen: the compiler tells where that of the own room is not meant
        (target,) = rooms
        edits.append((match.start(), "headroom::" if target == "base" else f"{target}::"))
    for at, prefix in reversed(edits):
        text = text[:at] + prefix + text[at:]
    texts[path] = text


def qualify_header(path, index, reached, clashing):
    places = uses(index, path, reached, True)
    text = texts[path]
    for start, end, target, name in reversed(places):
        last, word, _ = before(blank(text), start)
        if word in ("struct", "class") and text[end:end + 1] == ";":
            continue  # a forward declaration, below
        prefix = f"headroom::{target}::" if target in clashing or not inside_headroom(text, start) else f"{target}::"
        text = text[:start] + prefix + text[start:]
    texts[path] = text


def inside_headroom(text, at):
    return any(block.name.split("::")[0] == "headroom" and block.open_end <= at and (block.close or len(text)) >= at
               for block in parse(text)[1] if not block.around)


TABLE = re.compile(r"\bFieldTable const&\s+field_table_of\(\s*(?:\w+::)*?([A-Z]\w*)(?:::\w+)?\s+const\*\s*\w*\)")


def move_tables(path, index):
    """The field table of another room's struct is found in the namespace of that struct alone."""
    own = room(path)
    if own == "base" or "field_table_of(" not in texts[path]:
        return
    text = texts[path]
    items, _ = parse(text)
    out = collections.defaultdict(list)
    for item in reversed(items):
        if item.namespace != (("headroom", own) if own else ("headroom",)):
            continue
        piece = text[item.start:item.end]
        match = TABLE.search(piece)
        if not match or match[1] not in index.where:
            continue
        rooms = {room(other) for other, kind in index.where[match[1]] if kind == "type"}
        if not rooms or own in rooms or own is None and rooms == {"base"}:
            continue
        if len(rooms) > 1:
            shout(path, "field_table_of", match[1], "is in several rooms:", *sorted(rooms))
            continue
        (target,) = rooms
        text = text[:item.start] + ("\n" if piece.startswith("\n\n") else "") + text[item.end:]
        piece = piece.strip("\n").replace(f"({target}::", "(")
        simple = re.search(r"\{\s*return (\w+);\s*\}", piece)
        if own is None:
            pass
        elif simple:
            piece = piece.replace(simple[0], f"{{ return {own}::{simple[1]}; }}" if target == "base" else f"{{ return headroom::{own}::{simple[1]}; }}")
        elif item.body:
            at = piece.index("{") + 1
            piece = piece[:at] + f"\n    using namespace headroom::{own};" + piece[at:]
        out[target].insert(0, piece)
    out.pop("base" if own is None else None, None)
    if not out:
        return
    for target in sorted(out):
        space = "headroom" if target == "base" else f"headroom::{target}"
        if own is None:
            at = parse(text)[1][0].open_start
            text = text[:at] + f"namespace {space} {{\n\n" + "\n\n".join(out[target]) + f"\n\n}} // namespace {space}\n\n" + text[at:]
            continue
        text = text.rstrip("\n") + f"\n\nnamespace {space} {{\n\n" + "\n".join(out[target]) + f"\n\n}} // namespace {space}\n"
    texts[path] = re.sub(r"\n{3,}", "\n\n", text)


def move_forwards(path, index):
    """Forward declarations of another room's types, to its namespace."""
    text = texts[path]
    own = room(path) or None
    items, blocks = parse(text)
    out = collections.defaultdict(list)
    for item in reversed(items):
        names = declared(item)
        if not names or names[0][1] != "forward" or item.namespace not in (("headroom",), ("headroom", own)):
            continue
        rooms = {room(other) for other, kind in index.where.get(names[0][0], ()) if kind == "type"}
        if len(rooms) != 1 or own in rooms or (rooms == {"base"} and item.namespace == ("headroom",)):
            continue
        (target,) = rooms
        piece = text[item.start:item.end]
        out[target].insert(0, piece.strip("\n"))
        text = text[:item.start] + text[item.end:]
    if not out:
        return
    _, blocks = parse(text)
    first = next(block for block in blocks if block.name.startswith("headroom"))
    new = ""
    for target in sorted(out):
        space = "headroom" if target == "base" else f"headroom::{target}"
        new += f"namespace {space} {{\n" + "\n".join(out[target]) + f"\n}} // namespace {space}\n\n"
    text = text[:first.open_start] + new + text[first.open_start:]
    text = re.sub(r"namespace headroom(?:::\w+)* \{\s*\} // namespace headroom(?:::\w+)*\n+", "", text)
    texts[path] = re.sub(r"\n{3,}", "\n\n", text)


def add_directives(path, index, reached, clashing):
    """using namespace ROOM; at the top of the namespaces of a source."""
    places = uses(index, path, reached, False)
    rooms = sorted({target for _, _, target, _ in places})
    own = room(path)
    if own:
        rooms = [one for one in rooms if one in ALLOWED.get(own, ())]
    text = texts[path]
    _, blocks = parse(text)
    tops = [block for block in blocks if not block.around and block.name.split("::")[0] == "headroom"]
    covered = []
    for block in tops:
        if not any(block.name == other.name or block.name.startswith(other.name + "::") for other in covered):
            covered.append(block)
    outer = [match for match in re.finditer(r"^([ \t]*)using namespace (?:::)?headroom;\n", text, re.M)]
    if not rooms:
        return
    if not covered and not outer:
        inside = [name for start, _, _, name in places if not re.search(rf"\busing [\w:]*::{name};", text)]
        if any(inside):
            shout(path, "uses names of rooms outside of any namespace:", *sorted(set(inside)))
        return
    for match in reversed(outer):
        lines = "".join(f"{match[1]}using namespace headroom::{one};\n" for one in rooms
                        if f"using namespace headroom::{one};" not in text)
        text = text[:match.end()] + lines + text[match.end():]
    _, blocks = parse(text)
    starts = {(block.name, block.open_start) for block in parse(text)[1]}
    del starts
    tops = [block for block in blocks if not block.around and block.name.split("::")[0] == "headroom"]
    chosen = []
    for block in tops:
        if not any(block.name == other.name or block.name.startswith(other.name + "::") for other in chosen):
            chosen.append(block)
    for block in reversed(chosen):
        here = text[block.open_end:block.close]
        lines = []
        for one in rooms:
            spelled = f"headroom::{one}"
            if re.search(rf"^using namespace (?:headroom::)?{one};", here, re.M) or block.name.startswith(f"headroom::{one}"):
                continue
            lines.append(f"using namespace {spelled};\n")
        if not lines:
            continue
        rest = text[block.open_end:].lstrip("\n")
        gap = "" if rest.startswith("using namespace ") else "\n"
        text = text[:block.open_end] + "\n\n" + "".join(lines) + gap + rest
    texts[path] = text


def fix_explicit(path, index, reached):
    """headroom::X -> headroom::ROOM::X."""
    text = texts[path]
    clean = blank(text)
    own = room(path)
    for match in reversed(list(re.finditer(r"(?<![\w:])(::)?headroom::(\w+)", clean))):
        name = match[2]
        if re.search(r"namespace\s+$", clean[:match.start()]) and not re.search(r"using\s+namespace\s+$", clean[:match.start()]):
            continue
        if name in ROOM_LIST:
            continue
        if name in index.nested and clean[match.end():match.end() + 2] in ("::", ";\n") or name in index.nested and name not in index.where:
            rooms = index.nested[name]
        else:
            rooms = rooms_of(index, name, reached)
        rooms = set(rooms)
        if len(rooms) > 1 and own in rooms and "base" not in rooms:
            rooms = {own}
        if not rooms or "base" in rooms and len(rooms) == 1:
            continue
        if len(rooms) > 1:
            kinds = {kind for other, kind in index.where.get(name, ()) if other in reached}
            before_it = clean[:match.start()]
            if kinds == {"function"} and not re.search(r"using\s+$", before_it):
                text = text[:match.start()] + name + text[match.end():]
                continue
            shout(path, "headroom::" + name, "is in several rooms:", *sorted(rooms))
            continue
        (target,) = rooms
        text = text[:match.start()] + f"{match[1] or ''}headroom::{target}::{name}" + text[match.end():]
    texts[path] = text


def rewrite_includes():
    exists_new = {moved[path]: path for path in texts}
    for path in texts:
        def change(match, path=path):
            old = resolve(path, match[2], texts)
            if old is None:
                if match[2].startswith("headroom/"):
                    flat = [one for one in texts if one.startswith(PUBLIC) and stem(one) + ".hpp" == match[2][9:]]
                    if len(flat) == 1:
                        return match[1] + moved[flat[0]][len("core/include/"):] + match[3]
                return match[0]
            new, here = moved[old], moved[path]
            if match[2].startswith("headroom/"):
                for folder in SEARCHED:
                    if new.startswith(folder + "/"):
                        return match[1] + new[len(folder) + 1:] + match[3]
            if resolve(here, match[2], exists_new) == new:
                return match[0]
            if library_of(path) == "core" and os.path.dirname(new) == os.path.dirname(here):
                return match[1] + os.path.basename(new) + match[3]
            if new.startswith(PRIVATE):
                return match[1] + new[len(PRIVATE):] + match[3]
            return match[0]

        texts[path] = INCLUDE.sub(change, texts[path])


# ---- the rest of the checkout -------------------------------------------------------------------------------------

def sibling_text():
    """Paths that documents, build files and scripts name."""
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    files = [path for path in listed if path and os.path.isfile(path) and not path.endswith("move_to_rooms.py") and not path.startswith(("catalog/", "tests/data/", "tests/fuzz/corpus/"))
             and (path.endswith((".md", ".py", ".sh", ".cmake", ".txt", ".yml", ".yaml", ".json", ".bib")) or "." not in os.path.basename(path))]
    exact = {old: new for old, new in moved.items() if old != new}
    if not exact:
        return files
    folders = {}
    for old, new in sorted(FOLDERS.items()):
        if old != new:
            folders[PRIVATE + old] = PRIVATE + new
    pattern = re.compile("|".join(sorted(map(re.escape, exact), key=len, reverse=True)))
    inside = re.compile(r"(?<![\w/])(core/src/)(" + "|".join(FOLDERS) + r")(?=[/`\s)\",.;:]|$)", re.M)
    for path in files:
        try:
            text = pathlib.Path(path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        new = pattern.sub(lambda match: exact[match[0]], text)
        done = set(exact.values())
        def folder(match, new=new):
            rest = re.match(r"[\w/.]*", new[match.start():])[0]
            if rest in done or any(other.startswith(rest.rstrip("/") + "/") for other in done) and match[2] == FOLDERS[match[2]].split("/")[0]:
                return match[0]
            return match[1] + FOLDERS[match[2]]
        new = inside.sub(folder, new)
        if path == "core/CMakeLists.txt":
            for old, to in FOLDERS.items():
                if old != to:
                    new = re.sub(rf"(?<![\w/])src/{old}(?=[/\s)\"])(?!/{old})", f"src/{to}", new)
        if new != text:
            pathlib.Path(path).write_text(new, encoding="utf-8")
            git("add", path)
    return files


RULE = '''
# The rooms of the core and those that each stands on. Every room stands on the base: headers in headroom/ itself, sources in
# core/src/base/. The others have headers in headroom/ROOM/, sources in core/src/ROOM/ and the namespace headroom::ROOM.
ROOMS = {
%s}
# What several rooms need and none owns.
BASE = {
%s}
'''
CHECKS = '''
def room_of(path):
    """The room of a file of the core."""
    kind, *folders = path.relative_to(ROOT / "core").parts[:-1]
    folders = folders[1:] if kind == "include" else folders
    return folders[0] if folders and folders[0] in ROOMS else "base"


def room_breach(path, header):
    own, folder = room_of(path), ROOT / "core" / ("include" if header.startswith("headroom/") else "src")
    target = path.parent / header
    other = room_of((target if target.is_file() else folder / header).resolve())
    return None if other in (own, "base", *ROOMS[own]) else f"the room '{own}' may not know '{other}': '{header}'"


def room_breaches(path, text):
    """What is not where its room is: headers, sources and namespaces."""
    own, parts = room_of(path), path.relative_to(ROOT / "core").parts
    if parts[0] == "include" and own == "base" and path.stem not in BASE:
        yield 1, "a header of one room belongs into its folder; one that several need, into BASE of this script"
    if parts[0] == "src" and (len(parts) < 3 or parts[1] not in ROOMS):
        yield 1, "a source belongs into the folder of its room"
    opened = re.findall(r"^namespace headroom\\b(?:::(\\w+))?", text, re.M)
    if own != "base" and opened and (own not in opened or not set(opened) <= {own, "", *ROOMS[own]}):
        yield 1, f"the names of this room are in the namespace headroom::{own}"
'''


def change_script(path, edits):
    """Edits of a script as (old, new); one that does not fit is reported."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    for old, new in edits:
        if new in text:
            continue
        if old not in text:
            shout(path, "is not as expected near:", old.strip().splitlines()[0])
            continue
        text = text.replace(old, new, 1)
    pathlib.Path(path).write_text(text, encoding="utf-8")
    git("add", path)


def change_scripts():
    path = "scripts/check_includes.py"
    if "ROOMS = {" not in pathlib.Path(path).read_text(encoding="utf-8"):
        table = "".join(f'    "{one}": ({"".join(repr(other).replace(chr(39), chr(34)) + ", " for other in others).rstrip()}),\n'
                        .replace(",),", ",),") for one, others in ALLOWED.items())
        table = re.sub(r'(", "\w+"),\)', r"\1)", table)
        flat = sorted(stem(new) for new in moved.values() if new.startswith(PUBLIC) and "/" not in new[len(PUBLIC):])
        lines, line = "", "   "
        for name in flat:
            if len(line) + len(name) + 4 > 118:
                lines, line = lines + line + "\n", "   "
            line += f' "{name}",'
        lines += line + "\n"
        any_room = 'headroom/(?:(?:" + "|".join(ROOMS) + r")/)?[^/]+'
        change_script(path, [
            ('    core reads no file,', '    The rooms of the core know each other in one order (ROOMS).\n    core reads no file,'),
            ('\n# What each library may include', RULE % (table, lines) + 'IN_ROOM = f"(?:(?:{\'|\'.join(ROOMS)})/)?"\n\n# What each library may include'),
            ('"core": r"headroom/[^/]+', '"core": rf"headroom/{IN_ROOM}[^/]+'),
            ('"fit": r"headroom/(fit/)?[^/]+', '"fit": rf"headroom/(fit/|{IN_ROOM})[^/]+'),
            ('"io": r"headroom/(io/)?[^/]+', '"io": rf"headroom/(io/|{IN_ROOM})[^/]+'),
            ('"probe": r"headroom/(probe/)?[^/]+', '"probe": rf"headroom/(probe/|{IN_ROOM})[^/]+'),
            ('\ndef breaches(', CHECKS + '\n\ndef breaches('),
            ('        if problem:\n            yield number, problem\n    if library',
             '        if not problem and library == "core" and match.group(1) == \'"\':\n'
             '            problem = room_breach(path, match.group(2))\n'
             '        if problem:\n            yield number, problem\n    if library'),
            ('    for number, line in enumerate(without_comments(text).splitlines(), 1):\n        if line.lstrip()',
             '    yield from room_breaches(path, text)\n'
             '    for number, line in enumerate(without_comments(text).splitlines(), 1):\n        if line.lstrip()'),
        ])
        del any_room
    path = "scripts/check_one_definition.py"
    change_script(path, [
        ('COMMENT = re', 'ROOMS = "|".join(one.name for one in (ROOT / "core/include/headroom").iterdir() if one.is_dir())\n'
         'ROOM = re.compile(rf"^headroom::(?:{ROOMS})(?=::)")\nCOMMENT = re'),
        ('            for name in types_of(path.read_text()):\n',
         '            for name in types_of(path.read_text()):\n'
         '                name = ROOM.sub("headroom", name) if library == "core" else name  # sources open several rooms\n'),
        ('Types inside unnamed namespaces and inside other types are apart.',
         'The rooms of the core count as one namespace. Types inside unnamed namespaces and inside other types are apart.'),
        ('apart. Prints each name with its files.', 'apart.\nPrints each name with its files.'),
    ])
    change_script("scripts/join_sources.py", [
        ('OPENED = re.compile(r"^using namespace ([\\w:]+);", re.M)'.replace("\\\\", "\\"),
         'OPENED = re.compile(r"^using namespace (?!headroom::\\w+;)([\\w:]+);", re.M)  # rooms share no name: any may be open'.replace("\\\\", "\\")),
    ])


ADR = '''# %d. The core has rooms, one for each product

**Status**: accepted, 2026-11-25.

**Context.** 98 public headers lay in one folder, and all names of the core in one namespace. Nobody could see which headers a question about
queues needs, and a program that plans also built the simulation of serving.

**Decision.** Each product is a room of the core. Its headers are in `core/include/headroom/ROOM/`, its sources in `core/src/ROOM/`, its names in
the namespace `headroom::ROOM`.

| room | holds | stands on |
|---|---|---|
| (base) | quantities, errors, precisions, machines, random numbers, samples, order statistics, timelines, field tables | |
| `laws` | speedup laws, task graphs, rooflines: any parallel job | base |
| `network` | collectives, topologies, costs of messages, libraries, measured networks | base |
| `measure` | campaigns, samples, orders of runs, measured rooflines | base, `laws` |
| `training` | models, strategies, memory, steps and their simulation, pipelines, plans, validation | base, `laws`, `network` |
| `trace` | traces of ranks, their collectives, breakdowns and critical paths | base, `laws`, `network` |
| `serving` | tails, queues, inference | base, `laws`, `network`, `training`, `trace` |

The base has its headers in `headroom/` itself, its sources in `core/src/base/` and the namespace `headroom`. It holds what several rooms need and
nothing else. `scripts/check_includes.py` checks the order (`ROOMS`), the folders, the namespaces, and that no header joins the base unnoticed (`BASE`).

**Names.** No two types of the core have one name, in whatever rooms they are (`scripts/check_one_definition.py`). A header names the room of what it
uses (`network::Fabric`). A source opens the rooms it uses (`using namespace headroom::network;`). Overloads such as `name_of` are found by their
arguments. A function has no name of a room.

**What the order cost.** Six declarations stood in the way.

- `Group` and `DimensionGroups` are in `network/group.hpp`; the groups of a strategy stay in `training/placement.hpp`.
- The laws of data parallelism, pipelines and optimizer state need collectives: they are in `training/laws.hpp`.
- `use_measured_links` changes a calibration: it is in `training/calibration.hpp`.
- `Ticks` is in `headroom/timeline.hpp`; the event queue, which four rooms simulate with, in `core/src/base/events/`.
- `calibrated_ceilings` takes two rates in place of the rates of a calibrated chip.
- Work and depth of a graph are computed by `dag_measure`, since `measure` is a room.
'''


def write_decision():
    adr = pathlib.Path("docs/adr")
    if any("The core has rooms" in page.read_text(encoding="utf-8") for page in adr.glob("*.md")):
        return
    number = 1 + max(int(page.name[:4]) for page in adr.glob("[0-9]*.md"))
    page = adr / f"{number:04}-the-core-has-rooms.md"
    page.write_text(ADR % number, encoding="utf-8")
    git("add", str(page))
    change_script("CONTRIBUTING.md", [
        ("- A formula is a free function",
         "- The core has rooms by product: `laws`, `network`, `measure`, `training`, `trace`, `serving`. A room has its headers in `core/include/headroom/ROOM/`, its\n"
         "  sources in `core/src/ROOM/`, its names in `headroom::ROOM`. `headroom/` itself holds what several rooms need. `make include-check` checks the order in which\n"
         f"  they know each other ([why](docs/adr/{page.name})).\n"
         "- A formula is a free function"),
    ])
    change_script("CHANGELOG.md", [
        ("### Changed\n\n", "### Changed\n\n"
         f"- The core has rooms by product (docs/adr/{number:04}): headers are in `headroom/ROOM/`, names in `headroom::ROOM`, for `laws`, `network`, `measure`, `training`,\n"
         "  `trace` and `serving`. `measure(Dag)` is `dag_measure`.\n"),
    ])


def write():
    for path, text in texts.items():
        new = moved[path]
        if new != path and original[path] is not None:
            os.makedirs(os.path.dirname(new), exist_ok=True)
            if subprocess.run(["git", "mv", path, new], capture_output=True).returncode != 0:
                os.rename(path, new)
        if text != original[path] or new != path:
            os.makedirs(os.path.dirname(new), exist_ok=True)
            pathlib.Path(new).write_text(text, encoding="utf-8")
    for folder, _, _ in sorted(os.walk("core/src"), reverse=True):
        if not os.listdir(folder):
            os.rmdir(folder)


def tidy():
    changed = [moved[path] for path, text in texts.items() if text != original[path]]
    tool = next((tool for tool in ("clang-format-14", "clang-format") if subprocess.run(["which", tool], capture_output=True).returncode == 0), None)
    if tool:
        for i in range(0, len(changed), 50):
            subprocess.run([tool, "-i", *changed[i:i + 50]], check=True)
    else:
        shout("no clang-format: run make format")
    if changed:
        git("add", "--", *changed)
    return changed


def check_order():
    """Every include of core against the order of rooms."""
    for path in texts:
        own = room(path)
        if own is None:
            continue
        for other in includes_of(path):
            target = room(other)
            if target not in (own, "base", None, *ALLOWED.get(own, ())):
                shout(path, f"({own}) includes", other, f"({target})")


def main():
    load()
    rooms_before.update(one for one in ROOM_LIST if os.path.isdir(PUBLIC + one))
    check_parse()
    for path in list(texts):
        moved[path] = target_of(path)
    before_names = Index()
    before_reach = closure({path: includes_of(path) for path in texts})
    old_where = {name: {path for path, _ in where} for name, where in before_names.where.items()}

    for step in (rename_step_example, split_ticks, split_group, split_measured_network, split_laws, split_quantile, free_ceilings,
                 rename_measure, rename_events):
        step()
    for path in list(texts):
        moved[path] = target_of(path)
        if original[path] is None and path not in before_reach:
            before_reach[path] = {path}
    if os.path.isdir("core/include/headroom"):
        check_order()

    index = Index()
    # Names that a file saw and would see no longer: where their declaration went another way than their header.
    reach = closure({path: includes_of(path) for path in texts})
    for path in list(texts):
        words = None
        for name, where in index.where.items():
            old = old_where.get(name, set())
            if not (old & before_reach.get(path, set())) or any(other in reach[path] for other, _ in where):
                continue
            if words is None:
                clean = blank(texts[path])
                words = {match[0] for match in WORD.finditer(clean)
                         if before(clean, match.start())[0] not in (".",) and clean[max(0, match.start() - 2):match.start()] not in ("->",)}
            if name not in words or re.search(rf"\b(?:struct|class|enum|typename) {name}\b", blank(texts[path])):
                continue
            kinds = {kind for _, kind in where}
            if kinds == {"function"} and (not re.search(rf"(?<![\w.>]){name}\(", blank(texts[path])) or declares_locally(blank(texts[path]), name)):
                continue
            candidates = sorted(other for other, _ in where if other.startswith(PUBLIC))
            own = room(path)
            fit = [other for other in candidates if own is None or room(other) in (own, "base", *ALLOWED.get(own, ()))]
            if not fit:
                shout(path, "loses", name, "of", *candidates)
                continue
            add_include(path, fit[0][len("core/include/"):])
            reach = closure_of(path, reach)
    reach = closure({path: includes_of(path) for path in texts})
    check_order()

    clashing = conflicts()
    for path in list(texts):
        library = library_of(path)
        fix_explicit(path, index, reach[path])
        qualify_hidden(path, index, reach[path])
        if is_header(path):
            qualify_header(path, index, reach[path], clashing[library])
        else:
            add_directives(path, index, reach[path], clashing[library])
    for path in list(texts):
        rename_namespaces(path, index.nested)
        move_tables(path, index)
        move_forwards(path, index)
    rewrite_includes()
    write()
    changed = tidy()
    sibling_text()
    change_scripts()
    write_decision()
    print(f"{len(changed)} files of code changed, {sum(1 for old, new in moved.items() if old != new)} moved")
    return 0


def closure_of(path, reach):
    reach = dict(reach)
    seen, todo = {path}, [path]
    while todo:
        for other in includes_of(todo.pop()):
            if other not in seen:
                seen.add(other)
                todo.append(other)
    reach[path] = seen
    return reach


if __name__ == "__main__":
    sys.exit(main())
