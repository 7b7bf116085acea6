"""Finds Kafka's jars in the user's cache, and has Maven bring there what is missing.

Run as a script it fetches: `python tests/conformance/jars.py`. It is quick when nothing is missing.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

CLASS_PATHS: Final = ("clients-4.4.0", "clients-3.9.2", "broker-4.3.1", "broker-3.9.2")
"""A folder each, with a jar of Kafka and all that it needs to run; profiles of the same names."""

SINGLE_JARS: Final = {
    "kafka-clients-4.4.0.jar": "clients-4.4.0",
    "kafka-clients-3.9.2.jar": "clients-3.9.2",
    "kafka-metadata-4.3.1.jar": "broker-4.3.1",
    "kafka-raft-4.3.1.jar": "broker-4.3.1",
    "kafka-group-coordinator-4.3.1.jar": "broker-4.3.1",
    "kafka-group-coordinator-api-4.3.1.jar": "broker-4.3.1",
    "kafka-transaction-coordinator-4.3.1.jar": "broker-4.3.1",
    "kafka-share-coordinator-4.3.1.jar": "broker-4.3.1",
    "kafka-storage-4.3.1.jar": "broker-4.3.1",
    "kafka-server-common-4.3.1.jar": "broker-4.3.1",
}
"""Jars whose schemas are read as files: they lie beside the folders too."""

_PROJECT: Final = Path(__file__).with_name("pom.xml")
_SPACE: Final = "{http://maven.apache.org/POM/4.0.0}"
_STAMP: Final = "stamp"
_FETCH_SECONDS_MAX: Final = 900
_SILENT: Final = "slf4j-nop-"
_LOUD: Final = "slf4j-simple-"
_INSTALL_LINE: Final = (
    "brew install openjdk@17 maven"
    if sys.platform == "darwin"
    else "sudo apt-get install -y openjdk-17-jdk-headless maven"
)


class UnavailableError(RuntimeError):
    """Kafka's classes cannot be run here; the message says what is missing and what to type."""


def home() -> Path:
    """The folder of the jars: OTTLA_JARS, or `ottla/jars` in the user's cache."""
    if given := os.environ.get("OTTLA_JARS"):
        return Path(given)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "ottla" / "jars"


def tool(name: str) -> str:
    """The path of `java`, `javac` or `mvn`."""
    java_home = os.environ.get("JAVA_HOME")
    beside_java = shutil.which(name, path=str(Path(java_home) / "bin")) if java_home else None
    found = beside_java or shutil.which(name)
    if found is None:
        raise UnavailableError(f"no {name} found; type: {_INSTALL_LINE}")
    return found


def class_path(name: str, *, logs: bool = False) -> str:
    """What `java -cp` wants to be told of one of the folders; with `logs`, what runs says so."""
    if not _is_filled(name):
        raise UnavailableError(f"Kafka's jars are not in {home()}; type: make setup")
    unwanted = _SILENT if logs else _LOUD
    found = sorted((home() / name).glob("*.jar"))
    return ":".join(str(jar) for jar in found if not jar.name.startswith(unwanted))


def fetch() -> None:
    """Fill the folders that were not filled by what the project file says of them now."""
    missing = [name for name in CLASS_PATHS if not _is_filled(name)]
    if missing:
        maven = tool("mvn")
        tool("javac")
    for name in missing:
        sys.stderr.write(f"fetching {name}\n")
        _fetch_class_path(maven, name)
    for jar, folder in SINGLE_JARS.items():
        if folder in missing or not (home() / jar).exists():
            shutil.copyfile(home() / folder / jar, home() / jar)


def _fetch_class_path(maven: str, name: str) -> None:
    """Copy into a fresh folder and put that in place, so that none is ever half filled."""
    fresh = home() / f"{name}.fresh"
    shutil.rmtree(fresh, ignore_errors=True)
    goal = ["dependency:copy-dependencies", f"-DoutputDirectory={fresh}"]
    command = [maven, "-q", "-B", "-f", str(_PROJECT), "-P", name, *goal]
    done = subprocess.run(
        command,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_FETCH_SECONDS_MAX,
    )
    if done.returncode != 0:
        raise UnavailableError(f"Maven could not fetch {name}:\n{done.stdout[-2000:]}")
    (fresh / _STAMP).write_text(_digest(name))
    shutil.rmtree(home() / name, ignore_errors=True)
    fresh.rename(home() / name)


def _digest(name: str) -> str:
    """What the project file says of one folder, and of all."""
    project = ET.parse(_PROJECT).getroot()
    for profiles in project.findall(f"{_SPACE}profiles"):
        for profile in list(profiles):
            if profile.findtext(f"{_SPACE}id") != name:
                profiles.remove(profile)
    text = ET.canonicalize(ET.tostring(project, "unicode"), strip_text=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _is_filled(name: str) -> bool:
    stamp = home() / name / _STAMP
    return stamp.is_file() and stamp.read_text() == _digest(name)


if __name__ == "__main__":
    try:
        fetch()
    except UnavailableError as reason:
        sys.exit(str(reason))
