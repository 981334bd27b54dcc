"""The manual is true: its code runs, its links resolve, and its tables list what the program has."""

import ast
import inspect
import io
import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import typer

import alveus
from alveus import AlveusError, Hippocampus
from alveus.doors.cli import app, main
from alveus.doors.exits import Exit
from alveus.doors.options import SHARED
from alveus.doors.proving import as_json
from alveus.importers import FORMATS
from alveus.journal.chain import ChainState, ChainVerdict

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(alveus.__file__).parent
MANUAL = sorted(page for page in (ROOT / "docs").rglob("*.md") if "spec" not in page.relative_to(ROOT).parts)
PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "examples/README.md")]
PAGES += [*MANUAL, *sorted((ROOT / "spec").glob("*.md"))]


def named(pages):
    """The pages as parameters, called by their paths."""
    return [pytest.param(page, id=str(page.relative_to(ROOT))) for page in pages]


def read(page):
    """The text of a page, named from the root."""
    return (ROOT / page).read_text("utf-8")


def blocks(text, language=""):
    """The fenced blocks of that language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def section(page, title):
    """What stands on a page under that heading."""
    text = read(page).partition(f"\n## {title}\n")[2]
    assert text, f"{page} has no section {title}"
    return re.split(r"^## ", text, maxsplit=1, flags=re.MULTILINE)[0]


def run(command, folder):
    """A program in a folder of its own, with a home of its own, and nothing set that alveus reads."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ALVEUS_")}
    environment |= {"HOME": str(folder), "PYTHONPATH": str(SOURCE.parent), "XDG_DATA_HOME": str(folder / "data")}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)


# What is shown runs


@pytest.mark.parametrize("page", named(page for page in PAGES if blocks(page.read_text("utf-8"), "python")))
def test_python_runs(page, tmp_path):
    """The Python of a page runs from top to bottom, in an empty folder, without a word on stderr."""
    done = run([sys.executable, "-c", "\n".join(blocks(page.read_text("utf-8"), "python"))], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_some_python_is_shown():
    """Both the front page and the reference show code, so that the test above has something to run."""
    assert blocks(read("README.md"), "python")
    assert blocks(read("docs/reference/python.md"), "python")


def test_the_tutorial_ends_as_it_says(tmp_path, monkeypatch, capfdbinary):
    """Typed in order, the tutorial's commands give the verdicts and statuses that it promises."""
    monkeypatch.chdir(tmp_path)
    typed = [block for block in blocks(read("docs/tutorial/first-journal.md")) if "pip install" not in block]
    statuses = [typing(line, monkeypatch) for block in typed for line in block.splitlines()]
    sys.stdout.flush()
    out, err = (stream.decode() for stream in capfdbinary.readouterr())
    assert re.findall(r"WHOLE|BROKEN, \w+", out) == ["WHOLE", "BROKEN, bad_signature", "BROKEN, short_of_head"]
    assert [status for status in statuses if status] == [4, 4]
    assert "error:" not in err
    assert "Moved from PostgreSQL to SQLite" in out


def typing(line, monkeypatch):
    """Run one line and return its status: `alveus` in this process, for speed, all else as the shell would."""
    line = line.removesuffix('; echo "exit $?"')
    piped = re.fullmatch(r'echo "(.*)" \| (alveus .*)', line)
    if line.startswith("export "):
        for name, _, value in (pair.partition("=") for pair in shlex.split(line)[1:]):
            monkeypatch.setenv(name, value.replace("$PWD", str(Path.cwd())))
        return 0
    if not piped and not line.startswith("alveus "):
        return subprocess.run(["sh", "-c", line], check=True).returncode
    if piped:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{piped[1]}\n".encode())))
    return main(shlex.split(piped[2] if piped else line)[1:])


# What is linked is there


def prose(page):
    """A page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def headings(page):
    """The anchors of a page's headings, as MkDocs and GitHub make them."""
    titles = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in titles}


@pytest.mark.parametrize("page", named(PAGES))
def test_links_resolve(page):
    """Every relative link leads to a file that is there, and to a heading that it has."""
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose(page))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in headings(target), link


def test_every_page_is_in_the_navigation():
    """A page that the site does not list would never be found."""
    navigation = set(re.findall(r"([\w/-]+\.md)", read("mkdocs.yml")))
    assert {str(page.relative_to(ROOT / "docs")) for page in MANUAL} <= navigation


def test_every_decision_is_in_the_list():
    """The list of decisions names each of them."""
    decisions = {page.name for page in MANUAL if re.match(r"\d{4}-", page.name)}
    assert set(re.findall(r"\((\d{4}-[\w-]+\.md)\)", read("docs/adr/README.md"))) == decisions


# The command line


def commands():
    """Every command with its own options, each by its longest name."""
    found = {}
    for name, command in typer.main.get_command(app).commands.items():
        inner = {f"{name} {sub}": one for sub, one in getattr(command, "commands", {}).items()}
        for path, one in {name: command, **inner}.items():
            options = {max(each.opts, key=len) for each in one.params if each.param_type_name == "option"}
            found[path] = options
    return found


def listed_commands():
    """The same, as the reference lists them."""
    table = section("docs/reference/cli.md", "Commands")
    rows = re.findall(r"^\| `([a-z]+(?: [a-z]+)?)[^`]*` \| ([^|]*)\|", table, re.MULTILINE)
    return {name: set(re.findall(r"`(--?[a-z-]+)", options)) for name, options in rows}


def test_the_commands_listed_are_those_there_are():
    """The reference lists every command with every option of its own, and none that does not exist."""
    assert listed_commands() == commands()


def test_the_options_of_every_command_are_listed():
    """The options that go before or after any command stand at the head of the reference."""
    head = read("docs/reference/cli.md").partition("## Commands")[0]
    root = {option for each in typer.main.get_command(app).params for option in each.opts}
    offered = {option for option in root if "completion" not in option}
    assert offered == set(re.findall(r"`?(--[a-z]+)", head)) - {"--help"}


def calls(text):
    """The calls of `alveus` in a page's blocks, fenced or indented, as words and without comments."""
    lines = [line for block in blocks(text) for line in block.splitlines()]
    lines += [line.strip() for line in re.findall(r"^ {8}.+$", text, re.MULTILINE)]
    found = [re.search(r"(?:^|\| )(alveus [^;|]*)", line) for line in lines]
    return [shlex.split(each[1], comments=True) for each in found if each]


@pytest.mark.parametrize("page", named(page for page in PAGES if calls(page.read_text("utf-8"))))
def test_calls_name_what_there_is(page):
    """Every call of `alveus` that a page shows names a command and options that exist."""
    known = commands()
    for call in calls(page.read_text("utf-8")):
        words = iter(call[1:])
        rest = [word for word in words if not (word in ("--home", "--agent") and next(words))]
        name = " ".join(rest[:2]) if " ".join(rest[:2]) in known else rest[0]
        shared = {f"--{one}" for one in SHARED}
        assert name in known, call
        assert {word for word in rest if word.startswith("--")} <= known[name] | shared, call


def test_the_statuses_listed_are_those_there_are():
    """The table of exit statuses is the program's."""
    listed = re.findall(r"^\| (\d+) \|", section("docs/reference/cli.md", "Exit status"), re.MULTILINE)
    assert sorted(map(int, listed)) == sorted(Exit)


def test_the_keys_of_a_verdict_are_listed():
    """`verify --json` has the keys that the reference lists, and no others."""
    rows = re.findall(r"^\| (`.*?`) \|", section("docs/reference/cli.md", "`verify --json`"), re.MULTILINE)
    verdict = ChainVerdict(state=ChainState.EMPTY, agent_id="river", size=0, chains=())
    assert set(re.findall(r"\w+", " ".join(rows))) == set(as_json(verdict))


def test_the_formats_listed_are_those_there_are():
    """The formats that `--format` takes are those of the table of formats."""
    rows = re.findall(
        r"^\| [^|`]+ \| `(\w[\w-]+)` \|", section("docs/reference/import-formats.md", "Formats"), re.MULTILINE
    )
    assert rows == [one.name for one in FORMATS]


# Python


def test_the_methods_listed_are_those_there_are():
    """The reference lists every method of `Hippocampus` with its arguments, and none that does not exist."""
    rows = re.findall(r"^\| `(\w+)\((.*?)\)` \|", read("docs/reference/python.md"), re.MULTILINE)
    listed = {name: re.findall(r"(\w+)(?:=[^,]+)?(?:,|$)", arguments) for name, arguments in rows}
    methods = {name: method for name, method in vars(Hippocampus).items() if inspect.isfunction(method)}
    public = {name: list(inspect.signature(each).parameters)[1:] for name, each in methods.items() if name[0] != "_"}
    assert listed == {name: parameters for name, parameters in public.items() if name != "close"}


def test_the_arguments_of_open_are_listed():
    """So are the arguments of `open`."""
    rows = re.findall(r"^\| ([^|]+) \|", section("docs/reference/python.md", "`Hippocampus.open(…)`"), re.MULTILINE)
    listed = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert listed == set(inspect.signature(Hippocampus.open).parameters)


# Error codes


def raised():
    """The codes that errors are raised with, wherever the source gives one by name."""
    modules = [path.relative_to(SOURCE.parent).with_suffix("") for path in SOURCE.rglob("[!_]*.py")]
    for module in modules:
        if "frameworks" not in module.parts:  # each needs its framework, and has no class of error of its own
            import_module(".".join(module.parts))
    kinds, found = [AlveusError], set()
    for kind in kinds:
        kinds += kind.__subclasses__()
        found.add(kind.default_code)
    names = {kind.__name__ for kind in kinds if kind.__module__.startswith("alveus.")}
    for path in SOURCE.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in names:
                given = [word.value for word in call.keywords if word.arg == "code"]
                found |= {each.value for code in given for each in branches(code) if isinstance(each, ast.Constant)}
    return found


def branches(code):
    """What an expression may give."""
    return [code.body, code.orelse] if isinstance(code, ast.IfExp) else [code]


def test_the_codes_listed_are_those_raised():
    """Each code that the source raises by name is listed; what else is listed is a verdict's, passed on."""
    cells = re.findall(r"^\| [^|]*\| ([^|]*) \|", section("docs/reference/errors.md", "Raised"), re.MULTILINE)
    listed = set(re.findall(r"`(\w+)`", " ".join(cells)))
    verdicts = set(re.findall(r"^\| `(\w+)`", section("docs/reference/errors.md", "In a verdict"), re.MULTILINE))
    assert raised() <= listed
    assert listed - raised() <= verdicts
