class CannotMeasure(RuntimeError):
    """The message names what is missing or failed and, where possible, what to do."""
