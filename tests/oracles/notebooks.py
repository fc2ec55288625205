"""Executed notebooks as small as the book's tools take them."""


def whole(chapter: str, content: dict) -> dict:
    """A notebook's cells with all that an executed chapter must have besides."""
    run = {"chapter": chapter, "profile": "smoke", "parameters": {}, "seconds": 1.0, "device": "CPU", "commit": "0"}
    cells = [{"metadata": {}, "source": "", "cell_type": "code"} | cell for cell in content["cells"]]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {"lmc": run}, "cells": cells}


def gluing(**texts: str) -> dict:
    """A notebook that glued words into its text, by their names."""
    outputs = [
        {"data": {"application/papermill.record/text/plain": f"'{text}'"}, "metadata": {"scrapbook": {"name": name}}}
        for name, text in texts.items()
    ]
    return {"cells": [{"outputs": outputs}, {"cell_type": "markdown"}]}
