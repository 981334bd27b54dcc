"""What is spared a process that answers once: its classes do all that they would do, made when it is asked for."""

import subprocess
import sys

import pytest

BEHAVIOUR = """
import copy, pickle, sys
if sys.argv[1] == "haste":
    from alveus.doors.hook import haste
    haste.spare()
    haste.spare()  # once is enough, and twice does no harm
import dataclasses
from dataclasses import dataclass, field, replace

@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    "A frozen one."
    x: int
    y: int = 2
    names: list[str] = field(default_factory=list, compare=False)

@dataclass(order=True)
class Version:
    "An ordered one."
    major: int
    minor: int = 0
    def __post_init__(self):
        self.major = int(self.major)

@dataclass(frozen=True)
class Base:
    "One that others are made from."
    a: int

@dataclass(frozen=True)
class Child(Base):
    "A child, with a method of its own."
    b: int = 1
    def __repr__(self):
        return f"child of {super().__repr__()}"

class Plain(Base):
    "Not a dataclass itself."

@dataclass
class Untold:
    z: int = 3

@dataclass(eq=False, unsafe_hash=True)
class Hashed:
    "Hashed by its field."
    h: int

def tried(act):
    try:
        return act()
    except Exception as error:
        return type(error).__name__, str(error)

p = Point(x=1)
for act in (
    lambda: p, lambda: p == Point(x=1), lambda: p != Point(x=2), lambda: p == 1, lambda: hash(p) == hash(Point(x=1)),
    lambda: setattr(p, "x", 3), lambda: delattr(p, "x"), lambda: setattr(p, "new", 3), lambda: replace(p, x=7),
    lambda: Point(), lambda: Point(1), lambda: Point(x=1, w=2), lambda: Point(x=1).names is Point(x=1).names,
    lambda: dataclasses.asdict(p), lambda: dataclasses.fields(p)[2].name, lambda: {p: 1}[Point(x=1)],
    lambda: pickle.loads(pickle.dumps(p)), lambda: copy.copy(p), lambda: hasattr(p, "__dict__"),
    lambda: Version("3") < Version(3, 1), lambda: Version(1) >= Version(2), lambda: Version(1) < 1,
    lambda: sorted([Version(2), Version(1, 5)]), lambda: hash(Version(1)),
    lambda: Child(1), lambda: Child(1, 2), lambda: Base(1) == Child(1), lambda: setattr(Child(1), "a", 2),
    lambda: Plain(4), lambda: Plain(4) == Plain(4), lambda: Plain(4) == Base(4), lambda: setattr(Plain(1), "a", 5),
    lambda: Base(9), lambda: Untold(), lambda: Untold.__doc__, lambda: hash(Hashed(5)) == hash(Hashed(5)),
    lambda: [Point.__repr__.__qualname__, Point.__eq__.__name__, Point.__init__.__qualname__],
):
    print(tried(act))
    print(tried(act))  # what a first call makes has to serve the second as well
"""


def ran(script, *arguments):
    """What a process of its own prints."""
    command = [sys.executable, "-P", "-c", script, *arguments]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


def test_classes_do_what_they_did():
    """Each method does, says and refuses the same, at its first call and later, in subclasses too."""
    plain, haste = ran(BEHAVIOUR, "plain").splitlines(), ran(BEHAVIOUR, "haste").splitlines()
    assert len(plain) > 70
    untold = "Untold("  # the signature that makes a docstring is that of a method not yet made; nothing reads it
    assert [one for one in haste if not one.startswith(untold)] == [one for one in plain if not one.startswith(untold)]


MADE = """
from alveus.doors.hook import haste
haste.spare()
import sys
from dataclasses import dataclass
before = "inspect" in sys.modules

@dataclass(frozen=True, slots=True)
class Point:
    "One."
    x: int

first = Point.__init__
Point(1); Point(2)
import inspect
print(before, first is Point.__init__, inspect.signature(Point), Point.__eq__.__code__.co_name)
"""


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="Python 3.13 compiles all methods of a class at once")
def test_a_method_is_made_once_and_takes_its_place():
    """The first call leaves the class as it would have been; `inspect` comes to who imports it, and not before."""
    assert ran(MADE) == "False False (x: int) -> None late\n"


LATER = """
import dataclasses
from alveus.doors.hook import haste
made = vars(dataclasses).get("_create_fn")
haste.spare()
print(vars(dataclasses).get("_create_fn") is made)
"""


def test_where_it_comes_too_late_nothing_is_changed():
    """A process that has made classes already, as one that embeds the hook, keeps its `dataclasses`."""
    assert ran(LATER) == "True\n"
