"""A fitted model on one page: what it learned, how good it is, and what it would say."""

from everystump.report.page import render, write_report
from everystump.report.summary import summarize

__all__ = ["render", "summarize", "write_report"]
