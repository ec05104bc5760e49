"""Compiles the innermost loops of the search when the package is built, where there is a C compiler.

Without one the package is built all the same, and numpy does what they do: `surefoot backends` says which.
"""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("surefoot", "search", "certified")
LIBRARY = "libkernel" + {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
# No -ffast-math: certificates are judged to the last digit, and sums must not depend on the compiler's mood.
FLAGS = ["-O3", "-std=c11", "-fno-math-errno", "-ffp-contract=off", "-fPIC", "-shared"]


class KernelBuildHook(BuildHookInterface):
    """Puts the compiled library into a wheel; for an editable install, beside its source."""

    PLUGIN_NAME = "custom"

    def initialize(self, version, build_data):
        """Compile, and mark a wheel that holds the library as one for this platform."""
        source = Path(self.root, "src") / FOLDER
        self.made = Path(tempfile.mkdtemp())
        why = compile_kernel(source / "kernel.c", self.made / LIBRARY)
        if version == "editable":
            why = why or put(self.made / LIBRARY, source / LIBRARY)
        if why:
            self.app.display_warning(f"surefoot: no compiled kernel ({why}); searches will take longer")
            return
        if version != "editable":
            build_data["force_include"][str(self.made / LIBRARY)] = (FOLDER / LIBRARY).as_posix()
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"

    def finalize(self, version, build_data, artifact_path):  # noqa: ARG002
        """The wheel is written: what it was made of may go."""
        shutil.rmtree(self.made, ignore_errors=True)


def compile_kernel(source: Path, library: Path) -> str:
    """Compile the library; why there is none, if there is none."""
    named = shlex.split(os.environ.get("CC", ""))
    compilers = [named] * bool(named) + [["cc"], ["gcc"], ["clang"]]
    compiler = next((words for words in compilers if shutil.which(words[0])), None)
    if compiler is None:
        return "no C compiler was found"
    command = [*compiler, *FLAGS, "-o", str(library), str(source), "-lm"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return f"{compiler[0]} failed: {done.stderr.strip()[:500]}" if done.returncode else ""


def put(made: Path, library: Path) -> str:
    """Put a file into the place of an older one, whole; why that failed, if it did."""
    beside = library.with_name(f".{library.name}-{os.getpid()}")
    try:
        shutil.copy(made, beside)
        os.replace(beside, library)
    except OSError as error:
        return str(error)
    finally:
        beside.unlink(missing_ok=True)
    return ""
