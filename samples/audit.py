"""Have pip-audit look for known vulnerabilities in what requirements.txt pins: `make audit`.

Exits with 1 where one is known, and where a package could not be looked up: nothing is known of it then, and
pip-audit itself counts that as no vulnerability.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

REQUIREMENTS = [Path(__file__).parents[1] / name for name in ("requirements.txt", "requirements-s3.txt")]


def judge(report: Mapping[str, Any]) -> tuple[list[str], bool]:
    """Return what to say of the report, and whether every package was audited and none is vulnerable."""
    packages = report["dependencies"]
    vulnerable = [
        f"vulnerable: {package['name']} {package['version']}: {known['id']}"
        f" (mended in {', '.join(known['fix_versions']) or 'no version yet'})"
        for package in packages
        for known in package.get("vulns", ())
    ]
    skipped = [package["skip_reason"] for package in packages if "skip_reason" in package]
    lines = [*vulnerable, *(f"not audited: {reason}" for reason in skipped)]
    lines.append(
        f"{len(packages) - len(skipped)} of {len(packages)} packages audited,"
        f" {len(vulnerable)} vulnerabilities known, {len(skipped)} packages NOT audited."
    )
    return lines, bool(packages) and not vulnerable and not skipped


def main() -> None:
    options = ["--no-deps", "--disable-pip", "--format", "json", "--progress-spinner", "off"]
    command = [
        sys.executable,
        "-m",
        "pip_audit",
        *(f"--requirement={path}" for path in REQUIREMENTS),
        *options,
    ]
    audit = subprocess.run(command, capture_output=True, text=True)
    try:
        report = json.loads(audit.stdout)
    except ValueError:
        sys.exit(f"pip-audit failed, nothing was audited:\n{audit.stderr}")
    lines, is_clean = judge(report)
    print("\n".join(lines))
    sys.exit(0 if is_clean else 1)


if __name__ == "__main__":
    main()
