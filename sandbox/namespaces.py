"""Why this machine may refuse the namespaces that bubblewrap needs, and what lets it have them."""

from pathlib import Path

REFUSALS = ("namespace", "uid map", "gid map", "RTM_NEWADDR", "Operation not permitted", "Permission denied")
"""What bubblewrap says when the kernel refuses it something."""


def remedy(complaint: str) -> str:
    """What to do about a failure of bubblewrap that it describes with `complaint`."""
    if "overlay" in complaint:
        return "Overlays without root need Linux 5.11 or later."
    if not any(sign in complaint for sign in REFUSALS):
        return "Run `assay doctor`, or use --sandbox docker."
    if setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
        return (
            "AppArmor restricts user namespaces here (Ubuntu 23.10 and later). As root:\n"
            "  sysctl -w kernel.apparmor_restrict_unprivileged_userns=0\n"
            "or use --sandbox docker."
        )
    if setting("kernel/unprivileged_userns_clone") == "0":
        return (
            "User namespaces are off. As root:\n"
            "  sysctl -w kernel.unprivileged_userns_clone=1\n"
            "or use --sandbox docker."
        )
    if setting("user/max_user_namespaces") == "0":
        return (
            "User namespaces are off. As root:\n"
            "  sysctl -w user.max_user_namespaces=16384\n"
            "or use --sandbox docker."
        )
    return (
        "The kernel refuses user namespaces, as it does inside most containers. Run Assay on the host, or\n"
        "start its container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
        "--security-opt systempaths=unconfined."
    )


def setting(name: str) -> str:
    """A kernel setting; empty where the kernel has none of that name."""
    try:
        return Path("/proc/sys", name).read_text().strip()
    except OSError:
        return ""
