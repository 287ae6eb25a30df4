"""Clinical text → typed claims."""
