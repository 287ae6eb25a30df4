"""Data files of this part, read through the schema that their model states."""

from __future__ import annotations

from importlib.resources import files
from typing import TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from wardround.patients import DataError

Model = TypeVar("Model", bound=BaseModel)


def load_model(name: str, model: type[Model]) -> Model:
    """Load a data file. Callers keep the result.

    Args:
        name: Path below this part, as `data/limits.json`.
        model: The file's schema.

    Raises:
        DataError: The file is no JSON, or not as its schema says.
    """
    try:
        return model.model_validate(orjson.loads(files("wardround.rubrics").joinpath(name).read_bytes()))
    except (ValidationError, orjson.JSONDecodeError) as error:
        schema = f"{model.__module__}.{model.__name__}"
        raise DataError(
            f"rubrics/{name}: {error}; restore the file or mend the field named (schema: `{schema}`)"
        ) from error
