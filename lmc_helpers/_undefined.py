"""The error for statistics that few samples do not have; apart, since the tools of the book import it without torch."""


class Undefined(ValueError):
    """A statistic that these samples do not have, such as the error of one; few samples are no fault of a chapter."""
