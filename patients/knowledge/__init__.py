"""Clinical knowledge as data: schema in `models.py`, files in `data/`, one loader."""
