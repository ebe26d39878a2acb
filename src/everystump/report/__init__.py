"""The report page of a fitted model: one HTML file that explains it, evaluates it and runs it."""

from everystump.report.comparison import summarize_comparison, write_comparison
from everystump.report.notebook import InlinePage, show
from everystump.report.page import render, write_report
from everystump.report.summary import summarize

summarise = summarize  # the name in earlier releases

__all__ = [
    "InlinePage",
    "render",
    "show",
    "summarise",
    "summarize",
    "summarize_comparison",
    "write_comparison",
    "write_report",
]
