"""What an evaluation writes into its log around the tests (`harness/constants`)."""

START = ">>>>> Start Test Output"
END = ">>>>> End Test Output"
EXIT_CODE = ">>>>> Test Exit Code"
REJECTIONS = (
    ">>>>> Patch Apply Failed",
    ">>>>> Reset Failed",
    ">>>>> Tests Errored",
    ">>>>> Tests Timed Out",
)
"""Each, anywhere in a log, says that it shows no test run."""
