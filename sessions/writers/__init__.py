"""Sessions worded by a language model, behind the same gates as those made by rule (docs/writers.md)."""

from .roles import Role, Writer, prompt_hash, roles
from .writing import WriterReport, choose, write_session

__all__ = ["Role", "Writer", "WriterReport", "choose", "prompt_hash", "roles", "write_session"]
