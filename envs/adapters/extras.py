"""What is said where a door's library is not installed."""

from __future__ import annotations


def missing(what: str, package: str, extra: str) -> str:
    """Return the message: what needs which package, and the command that installs it.

    Args:
        what: The door, or what it does.
        package: Name in the package index.
        extra: This library's extra that brings it.
    """
    return f"{what} needs the package `{package}`: pip install 'wardround[{extra}]'"
