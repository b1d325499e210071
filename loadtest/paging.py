"""Pages of one list belong together, whatever is published while they are read."""

from loadtest.answers import Page, WrongAnswer


def require_continued(page: Page, after: Page, seen: set[str]) -> None:
    """Raises WrongAnswer unless `after` goes on after `page`: same generation, next rank, other videos."""
    if after.generation != page.generation:
        raise WrongAnswer("a next page of another generation")
    if after.first_rank != page.first_rank + len(page.ids):
        raise WrongAnswer("a next page that does not go on where the last one ended")
    if not seen.isdisjoint(after.ids):
        raise WrongAnswer("a video on two pages")
