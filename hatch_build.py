"""Compiles the innermost loops of the search when the package is built, where there is a C compiler.

Without one the package is built all the same, and numpy does what they do: `surefoot backends` says which.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("src", "surefoot", "search", "certified")
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
# No -ffast-math: certificates are judged to the last digit, and sums must not depend on the compiler's mood.
FLAGS = ["-O3", "-std=c11", "-fno-math-errno", "-ffp-contract=off", "-fPIC", "-shared"]


class KernelBuildHook(BuildHookInterface):
    """Puts the compiled library beside its source, and into the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version, build_data):  # noqa: ARG002
        """Compile, and mark a wheel that holds the library as one for this platform."""
        if self.target_name != "wheel":
            return
        why = compile_kernel(Path(self.root) / FOLDER)
        if why:
            self.app.display_warning(f"surefoot: no compiled kernel ({why}); searches will take longer")
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["artifacts"].append(f"{FOLDER.as_posix()}/libkernel{SUFFIX}")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"


def compile_kernel(folder: Path) -> str:
    """Compile the library; why there is none, if there is none."""
    library, made = folder / f"libkernel{SUFFIX}", folder / f".libkernel-{os.getpid()}{SUFFIX}"
    compiler = next(filter(None, map(shutil.which, (os.environ.get("CC", ""), "cc", "gcc", "clang"))), None)
    try:
        library.unlink(missing_ok=True)  # an older one must not pass for this one
        if compiler is None:
            return "no C compiler was found"
        command = [compiler, *FLAGS, "-o", str(made), str(folder / "kernel.c"), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            return f"{compiler} failed: {done.stderr.strip()[:500]}"
        os.replace(made, library)  # whoever loads it meanwhile gets a whole one
        return ""
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    finally:
        made.unlink(missing_ok=True)
