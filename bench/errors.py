class CannotMeasure(RuntimeError):
    """The message names what is missing or went wrong and, where it can, what to do."""
