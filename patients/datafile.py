"""Data files that come with the package, read through the schema that their model states."""

from __future__ import annotations

from importlib.resources import files
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from .errors import DataError

_Model = TypeVar("_Model", bound=BaseModel)


def load_data(package: str, name: str, model: type[_Model]) -> _Model:
    """Read a data file. Callers keep the result.

    Args:
        package: Package that holds the file, as "wardround.sessions".
        name: Path below the package, as "data/common.json".
        model: The file's schema.

    Raises:
        DataError: The file is no JSON, or not as its schema says; every fault with its field.
    """
    try:
        return model.model_validate_json(files(package).joinpath(*name.split("/")).read_bytes())
    except ValidationError as error:
        file = name.rpartition("/")[2]
        faults = (f"{file}: {'.'.join(map(str, one['loc'])) or 'file'}: {one['msg']}" for one in error.errors())
        raise DataError("\n".join(faults)) from error
