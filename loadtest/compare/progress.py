"""Progress messages, on standard error: standard output is for the result."""

from rich.console import Console

progress = Console(stderr=True, log_path=False, markup=False, highlight=False, soft_wrap=True)
