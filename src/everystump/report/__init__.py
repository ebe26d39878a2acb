"""The report page of a fitted model: one HTML file that explains it, evaluates it and runs it."""

from everystump.report.page import render, write_report
from everystump.report.summary import summarize

summarise = summarize  # the name in earlier releases

__all__ = ["render", "summarise", "summarize", "write_report"]
