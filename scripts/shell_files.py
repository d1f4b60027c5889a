#!/usr/bin/python3
"""shell_files.py [--static] PROGRAM FOLDER: manual pages and completions for bash, zsh and fish, from the table that --help is made of.

    FOLDER/man1/headroom.1.gz, headroom-VERB.1.gz     FOLDER/bash/headroom     FOLDER/zsh/_headroom     FOLDER/fish/headroom.fish
    FOLDER/copyright, FOLDER/licences/NAME, FOLDER/headroom.cdx.json (components.py), FOLDER/changelog.gz
"""

import gzip
import json
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True  # the sources stay as they are
import components  # noqa: E402

static = sys.argv[1:2] == ["--static"]
program, folder = sys.argv[1 + static], pathlib.Path(sys.argv[2 + static])
verbs = json.loads(subprocess.run([program, "schema", "--verbs"], capture_output=True, text=True, check=True).stdout)
version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
FILES = ("FILE", "FOLDER", "DIR")


def write(path, text):
    path = folder / path
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gz":  # the same bytes whenever it is written
        path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    else:
        path.write_text(text, encoding="utf-8")


# ---- manual pages --------------------------------------------------------------------------------------------------

def roff(text):
    """Text with what a line of roff takes for a command or a dash written so that it is shown."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def page(name, summary, body):
    head = f'.TH "{name.upper()}" "1" "" "headroom {version}" "User Commands"\n.SH NAME\n{roff(name)} \\- {roff(summary)}\n'
    write(f"man1/{name}.1.gz", head + body)


def option_names(row):
    names = [row["name"]] + ([row["alias"]] if row["alias"] else [])
    value = {"nothing": "", "perhaps_value": f"[=\\fI{row['placeholder']}\\fR]"}.get(row["takes"], f" \\fI{row['placeholder']}\\fR")
    return ", ".join(f"\\fB{roff(name)}\\fR{value}" for name in names)


def verb_page(verb):
    name = "headroom-" + verb["name"].replace(" ", "-")
    words = " ".join(f"[{a['name']}...]" if a["many"] else a["name"] for a in verb["arguments"])
    body = f".SH SYNOPSIS\n.B headroom {roff(verb['name'])}\n{roff(words)} [OPTIONS]\n"
    if verb["arguments"]:
        body += ".SH ARGUMENTS\n" + "".join(f".TP\n.B {a['name']}\n{roff(a['help'])}\n" for a in verb["arguments"])
    group = None
    body += ".SH OPTIONS\n"
    for row in sorted(verb["options"], key=lambda row: [r["group"] for r in verb["options"]].index(row["group"])):
        if row["group"] != group:
            group = row["group"]
            body += f".SS {roff(group)}\n"
        body += f".TP\n{option_names(row)}\n{roff(row['help'])}\n"
    body += ".SH EXAMPLES\n.nf\n" + "\n".join(roff(line) for line in verb["examples"].splitlines()) + "\n.fi\n"
    page(name, verb["summary"], body + ".SH SEE ALSO\n.BR headroom (1)\n")


for each in verbs:
    verb_page(each)
overview = ".SH SYNOPSIS\n.B headroom\nVERB [ARGUMENTS] [OPTIONS]\n.SH VERBS\n"
overview += "".join(f".TP\n.BR headroom\\-{roff(v['name'].replace(' ', '-'))} (1)\n{roff(v['summary'])}\n" for v in verbs)
overview += (".SH EXIT STATUS\n0 done, 2 usage, 3 infeasible, 4 input unreadable, 5 too little data, 99 a gate (\\-\\-require) failed, "
             "130 interrupted\n")
page("headroom", "tell before renting a machine whether more machines will help", overview)


# ---- completions ---------------------------------------------------------------------------------------------------

def long_names(verb):
    return ["--help", "--version", *(name for row in verb["options"] for name in (row["name"], row["alias"]) if name)]


def shell(text):
    return "'" + text.replace("'", "'\\''") + "'"


first = list(dict.fromkeys(verb["name"].split()[0] for verb in verbs))
subjects = {}
for each in verbs:
    if " " in each["name"]:
        subjects.setdefault(each["name"].split()[0], []).append(each["name"].split()[1])

bash = "# bash completion of headroom\n_headroom() {\n    local word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} options=\n"
bash += f"    if [ \"$COMP_CWORD\" = 1 ]; then\n        mapfile -t COMPREPLY < <(compgen -W {shell(' '.join(first))} -- \"$word\")\n        return\n    fi\n"
for name, parts in subjects.items():
    bash += (f"    if [ \"$verb\" = {name} ]; then\n        verb=\"{name} ${{COMP_WORDS[2]}}\"\n        if [ \"$COMP_CWORD\" = 2 ]; then\n"
             f"            mapfile -t COMPREPLY < <(compgen -W {shell(' '.join(parts))} -- \"$word\")\n            return\n        fi\n    fi\n")
bash += "    case $verb in\n"
for each in verbs:
    bash += f"    {shell(each['name'])}) options={shell(' '.join(long_names(each)))} ;;\n"
bash += ("    esac\n    case $word in\n    -*) mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\") ;;\n"
         "    *) mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n    esac\n}\ncomplete -o filenames -F _headroom headroom\n")
write("bash/headroom", bash)


def zsh_text(text):
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:").replace("'", "'\\''")


zsh = "#compdef headroom\n_headroom() {\n    local verb=$words[2]\n    if (( CURRENT == 2 )); then\n        local -a verbs=(\n"
summaries = {v["name"]: v["summary"] for v in verbs}
for name in first:
    words = summaries.get(name, ", ".join(subjects.get(name, [])))
    zsh += f"            '{name}:{zsh_text(words)}'\n"
zsh += "        )\n        _describe verb verbs\n        return\n    fi\n"
for name, parts in subjects.items():
    zsh += (f"    if [[ $verb == {name} ]]; then\n        if (( CURRENT == 3 )); then\n            compadd {' '.join(parts)}\n"
            f"            return\n        fi\n        verb=\"{name} $words[3]\"\n    fi\n")
zsh += "    case $verb in\n"
for each in verbs:
    zsh += f"    {shell(each['name'])})\n        _arguments \\\n"
    for row in each["options"]:
        for name in filter(None, (row["name"], row["alias"])):
            action = "" if row["takes"] == "nothing" else f":{zsh_text(row['placeholder'])}:" + (
                "_files" if any(word in row["placeholder"] for word in FILES) else " ")
            many = "*" if row["takes"] == "values" else ""
            zsh += f"            '{many}{name}[{zsh_text(row['help'])}]{action}' \\\n"
    zsh += "            '*:file:_files' ;;\n"
zsh += "    esac\n}\n_headroom \"$@\"\n"
write("zsh/_headroom", zsh)

fish = "# fish completion of headroom\n"
for name in first:
    fish += f"complete -c headroom -n __fish_use_subcommand -f -a {name} -d {shell(summaries.get(name, ', '.join(subjects.get(name, []))))}\n"
for name, parts in subjects.items():
    fish += f"complete -c headroom -n '__fish_seen_subcommand_from {name}' -f -a {shell(' '.join(parts))}\n"
for each in verbs:
    words = each["name"].split()
    seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in words)
    for row in each["options"]:
        for name in filter(None, (row["name"], row["alias"])):
            value = "" if row["takes"] in ("nothing", "perhaps_value") else " -r"
            fish += f"complete -c headroom -n {shell(seen)} -l {name.lstrip('-')}{value} -d {shell(row['help'])}\n"
write("fish/headroom.fish", fish)


# ---- what a Debian package says of its licences and changes -----------------------------------------------------------------

components.main([*(["--static"] if static else []), str(folder), version, str(folder.parent / "web" / "charts.js"), program])
write("changelog.gz", f"headroom ({version}) unstable; urgency=medium\n\n  * See CHANGELOG.md of the source.\n\n"
      " -- The authors of Headroom <headroom@localhost>  Sat, 28 Nov 2026 00:00:00 +0000\n")
