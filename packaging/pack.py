"""Packs a built program for one system: an archive, a package for npm and a wheel. Then what names all systems: the package of
npm that people install, a formula for Homebrew, and the checksums.

    pack.py VERSION SYSTEM PROGRAM DIRECTORY
    pack.py --release VERSION DIRECTORY         needs the address of the repository in REPOSITORY
"""

import base64
import gzip
import hashlib
import io
import json
import os
import sys
import tarfile
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SUMMARY = "Guards coding agents: runs your commands before they act, and blocks what you do not want"
LICENCE = "MIT OR Apache-2.0"
DOCUMENTS = ["README.md", "LICENSE-APACHE", "LICENSE-MIT"]
SCOPE = "@forge-hooks"

# A system as Node names it: Rust's target, and the tags of a wheel. The programs of Linux are static, so any libc is fine.
SYSTEMS = {
    "linux-x64": ("x86_64-unknown-linux-musl", "manylinux_2_17_x86_64.musllinux_1_1_x86_64"),
    "linux-arm64": ("aarch64-unknown-linux-musl", "manylinux_2_17_aarch64.musllinux_1_1_aarch64"),
    "linux-riscv64": ("riscv64gc-unknown-linux-musl", "manylinux_2_31_riscv64.musllinux_1_2_riscv64"),
    "win32-x64": ("x86_64-pc-windows-gnu", "win_amd64"),
    "darwin-x64": ("x86_64-apple-darwin", "macosx_10_12_x86_64"),
    "darwin-arm64": ("aarch64-apple-darwin", "macosx_11_0_arm64"),
}


def built_at():
    return int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))


def documents():
    return {name: (ROOT / name).read_bytes() for name in DOCUMENTS}


def name_of_program(system):
    return "forge-hooks.exe" if system.startswith("win32") else "forge-hooks"


def is_program(name):
    return name.rsplit("/", 1)[-1] in ("forge-hooks", "forge-hooks.exe", "forge-hooks.js")


def tar_of(files):
    """Returns a compressed archive: a dictionary of paths and contents."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            entry.mtime = built_at()
            entry.mode = 0o755 if is_program(name) else 0o644
            archive.addfile(entry, io.BytesIO(content))
    return gzip.compress(raw.getvalue(), mtime=0)


def zip_of(files):
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, time.gmtime(built_at())[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if is_program(name) else 0o100644) << 16
            archive.writestr(entry, content)
    return raw.getvalue()


def archive(version, system, program):
    top = f"forge-hooks-{version}-{SYSTEMS[system][0]}"
    files = {name_of_program(system): program, **documents()}
    files = {f"{top}/{name}": content for name, content in files.items()}
    return zip_of(files) if system.startswith("win32") else tar_of(files)


def npm(manifest, files):
    """Returns a package of npm."""
    # Provenance needs the repository.
    repository = os.environ.get("REPOSITORY")
    manifest = {**manifest, "license": LICENCE, **({"repository": repository} if repository else {})}
    files = {"package.json": (json.dumps(manifest, indent=2) + "\n").encode(), **files, **documents()}
    return tar_of({f"package/{name}": content for name, content in files.items()})


def npm_of_system(version, system, program):
    platform, processor = system.split("-")
    manifest = {
        "name": f"{SCOPE}/{system}",
        "version": version,
        "description": f"The program of forge-hooks for {system}",
        "os": [platform],
        "cpu": [processor],
        "preferUnplugged": True,
    }
    return npm(manifest, {f"bin/{name_of_program(system)}": program})


def npm_of_all(version):
    manifest = {
        "name": "forge-hooks",
        "version": version,
        "description": SUMMARY,
        "bin": {"forge-hooks": "bin/forge-hooks.js"},
        "engines": {"node": ">=14"},
        "optionalDependencies": {f"{SCOPE}/{system}": version for system in SYSTEMS},
    }
    return npm(manifest, {"bin/forge-hooks.js": (HERE / "forge-hooks.js").read_bytes()})


def wheel(version, system, program):
    about = f"forge_hooks-{version}.dist-info"
    tags = "".join(f"Tag: py3-none-{tag}\n" for tag in SYSTEMS[system][1].split("."))
    metadata = (
        f"Metadata-Version: 2.1\nName: forge-hooks\nVersion: {version}\nSummary: {SUMMARY}\n"
        f"License: {LICENCE}\nRequires-Python: >=3.7\nDescription-Content-Type: text/markdown\n\n"
    )
    files = {
        f"forge_hooks-{version}.data/scripts/{name_of_program(system)}": program,
        f"{about}/METADATA": metadata.encode() + (ROOT / "README.md").read_bytes(),
        f"{about}/WHEEL": f"Wheel-Version: 1.0\nGenerator: packaging/pack.py\nRoot-Is-Purelib: false\n{tags}".encode(),
    }
    for name in DOCUMENTS[1:]:
        files[f"{about}/licenses/{name}"] = (ROOT / name).read_bytes()
    record = ""
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{about}/RECORD"] = f"{record}{about}/RECORD,,\n".encode()
    return zip_of(files)


def pack(version, system, program, directory):
    """Writes the packages of one system, and returns their names."""
    content = Path(program).read_bytes()
    names = names_of(version, system)
    for name, form in zip(names, [archive, npm_of_system, wheel]):
        (Path(directory) / name).write_bytes(form(version, system, content))
    return names


def names_of(version, system):
    target, tags = SYSTEMS[system]
    ending = "zip" if system.startswith("win32") else "tar.gz"
    return [
        f"forge-hooks-{version}-{target}.{ending}",
        f"{SCOPE[1:]}-{system}-{version}.tgz",
        f"forge_hooks-{version}-py3-none-{tags}.whl",
    ]


def release(version, directory):
    """Writes what names the packages of all systems."""
    repository = os.environ.get("REPOSITORY")
    if not repository:
        sys.exit("pack.py: REPOSITORY is not set, expected the address of the repository, whose releases have the archives")
    directory = Path(directory)
    names = [name for system in SYSTEMS for name in names_of(version, system)]
    missing = [name for name in names if not (directory / name).is_file()]
    if missing:
        sys.exit(f"pack.py: {directory} lacks {', '.join(missing)}: build each system first")

    main = f"forge-hooks-{version}.tgz"
    (directory / main).write_bytes(npm_of_all(version))
    formula = (HERE / "forge-hooks.rb").read_text()
    values = {"VERSION": version, "REPOSITORY": repository}
    for system in SYSTEMS:
        content = (directory / names_of(version, system)[0]).read_bytes()
        values[f"SHA256 {system}"] = hashlib.sha256(content).hexdigest()
    for name, value in values.items():
        formula = formula.replace(f"@{name}@", value)
    (directory / "forge-hooks.rb").write_text(formula)

    names += [main, "forge-hooks.rb"]
    sums = [f"{hashlib.sha256((directory / name).read_bytes()).hexdigest()}  {name}\n" for name in sorted(names)]
    (directory / "SHA256SUMS").write_text("".join(sums))
    print(f"{directory}: {len(names)} files, and their checksums in SHA256SUMS")


def main(arguments):
    if len(arguments) == 3 and arguments[0] == "--release":
        return release(arguments[1], arguments[2])
    if len(arguments) != 4 or arguments[1] not in SYSTEMS:
        sys.exit(__doc__)
    for name in pack(*arguments):
        print(f"{arguments[3]}/{name}")


if __name__ == "__main__":
    main(sys.argv[1:])
