#!/usr/bin/env python3
"""The picture of the README: docs/report.png, of a run's report as a browser shows it.

    scripts/pictures.py RUN                      RUN/report.html, as high as its first screen and what decides
    scripts/pictures.py RUN --height 900 --out other.png

Needs a Chromium (scripts/setup.sh --tests installs one). It has a profile of its own, which is removed, and reaches no network.
"""

import argparse
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

WIDTH = 1280
NAMES = ["chromium", "chromium-browser", "google-chrome"]
PATIENCE_S = 60


def main() -> None:
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=pathlib.Path, help="the directory of a run, with its report.html")
    parser.add_argument("--out", type=pathlib.Path, default=root / "docs" / "report.png", help="default: docs/report.png")
    parser.add_argument("--height", type=int, default=1250, help="of the picture, pixels; default 1250")
    asked = parser.parse_args()

    report = asked.run / "report.html"
    if not report.is_file():
        sys.exit(f"error: {report} is not there; make it: iopslab report {asked.run}")
    browser = next((found for found in map(shutil.which, NAMES) if found), None)
    if browser is None:
        sys.exit(f"error: none of {', '.join(NAMES)} is here; scripts/setup.sh --tests installs one")
    with tempfile.TemporaryDirectory(prefix="iopslab-pictures-") as own:
        made = pathlib.Path(own) / "report.png"
        picture(browser, report, made, pathlib.Path(own) / "profile", asked.height)
        check(made, asked.height)
        asked.out.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(made, asked.out)
    print(f"{asked.out}: {WIDTH} x {asked.height} of {report}")


def picture(browser: str, report: pathlib.Path, out: pathlib.Path, profile: pathlib.Path, height: int) -> None:
    """Has the browser draw the top of a page."""
    command = [browser, "--no-sandbox", "--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    command += ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps"]
    command += ["--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={profile}"]
    command += ["--hide-scrollbars", "--force-device-scale-factor=1", f"--window-size={WIDTH},{height}"]
    command += [f"--screenshot={out}", report.resolve().as_uri()]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        sys.exit(f"error: {browser} was not done with {report} after {PATIENCE_S} s")
    if done.returncode != 0 or not out.is_file():
        sys.exit(f"error: {browser} made no picture of {report} (exit {done.returncode}):\n{done.stderr.strip()}")


def check(made: pathlib.Path, height: int) -> None:
    """A picture of another size is not what was asked for."""
    head = made.read_bytes()[:24]
    size = struct.unpack(">II", head[16:24]) if head.startswith(b"\x89PNG\r\n\x1a\n") and len(head) == 24 else None
    if size != (WIDTH, height):
        sys.exit(f"error: the picture is {size}, expected {(WIDTH, height)}")


if __name__ == "__main__":
    main()
