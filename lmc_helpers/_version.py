"""The version of the installed package."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("lmc")
except PackageNotFoundError:  # a source folder that is not installed
    __version__ = "0+unknown"
