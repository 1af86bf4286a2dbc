# SPDX-License-Identifier: BSD-2-Clause
"""Makes the wheel that pip installs, by nothing but Python itself.

pip finds it by pyproject.toml (PEP 517); no other one has to be loaded, so that
`pip install contrib/python` needs no network.
"""

import base64
import hashlib
import os
import re
import tarfile
import zipfile
from typing import Any, Dict, List, Optional, Tuple

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = ("README.md", "pyproject.toml", "wheel_backend.py")  # beside the package
WHEEL = "Wheel-Version: 1.0\nGenerator: evenstep\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
METADATA = """Metadata-Version: 2.1
Name: evenstep
Version: {}
Summary: A map over unequal nodes, an Executor, and slices for programs that stay alive
License: BSD-2-Clause
Classifier: Operating System :: POSIX :: Linux
Classifier: Typing :: Typed
Requires-Python: >=3.8
Provides-Extra: lambdas
Requires-Dist: cloudpickle; extra == 'lambdas'
Description-Content-Type: text/markdown

{}"""


def _read(name: str) -> bytes:
    with open(os.path.join(HERE, name), "rb") as file:
        return file.read()


def _version() -> str:
    found = re.search(r'^__version__ = "(.*)"$', _read("evenstep/__init__.py").decode(), re.MULTILINE)
    assert found, "evenstep/__init__.py has no __version__"
    return found[1]


def _metadata() -> str:
    return METADATA.format(_version(), _read("README.md").decode())


def _package() -> List[str]:
    names = (name for name in os.listdir(os.path.join(HERE, "evenstep")) if name.endswith((".py", ".typed")))
    return ["evenstep/" + name for name in sorted(names)]


def _write_wheel(folder: str, content: Dict[str, bytes]) -> str:
    """These files, and the record of them."""
    info = f"evenstep-{_version()}.dist-info/"
    content = {**content, info + "METADATA": _metadata().encode(), info + "WHEEL": WHEEL.encode()}
    record = []
    name = f"evenstep-{_version()}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in content.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(data)}\n")
            _add(wheel, path, data)
        _add(wheel, info + "RECORD", "".join([*record, info + "RECORD,,\n"]).encode())
    return name


def _add(wheel: zipfile.ZipFile, path: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(path)  # of a fixed date: the same source gives the same wheel
    entry.external_attr = 0o644 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(entry, data)


Settings = Optional[Dict[str, Any]]


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: Optional[str] = None
) -> str:
    """Its name in that folder."""
    return _write_wheel(wheel_directory, {name: _read(name) for name in _package()})


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: Optional[str] = None
) -> str:
    """Likewise, for pip install -e: one that names this folder."""
    return _write_wheel(wheel_directory, {"evenstep.pth": HERE.encode() + b"\n"})


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """A tarball of which all this can be done."""
    base = f"evenstep-{_version()}"
    files: List[Tuple[str, str]] = [(name, os.path.join(HERE, name)) for name in (*SOURCES, *_package())]
    info = os.path.join(sdist_directory, "PKG-INFO")
    with open(info, "w", encoding="utf-8") as file:
        file.write(_metadata())
    with tarfile.open(os.path.join(sdist_directory, base + ".tar.gz"), "w:gz") as tar:
        for name, path in [*files, ("PKG-INFO", info)]:
            tar.add(path, f"{base}/{name}")
    os.unlink(info)
    return base + ".tar.gz"
