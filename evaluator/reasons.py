"""One sentence for every code a record's `reason` can hold. Codes are stable, sentences are for people."""

TAMPERING = {
    "foreign_frames": ("T02", "Something other than the test runner wrote to its result channel."),
    "runner_replaced": ("T03", "Other code took the place of a part of the test runner while it ran."),
    "canary_missing": (
        "T04",
        "All required tests were reported as passed, the control tests beside them not at all.",
    ),
    "canary_passed": (
        "T05",
        "A control test that cannot pass was not reported as failed: outcomes were forged.",
    ),
    "exit_forged": ("T05", "The run ended with success although a test in it failed."),
    "body_disagrees": ("T06", "A test was reported as passed, but its body did not come to its end."),
    "trusted_file_changed": ("T07", "A test file was another one when it was compiled, or after the run."),
    "twin_passed": ("T08", "Tests passed also with false expectations in them: outcomes were forged."),
}
"""The codes that mean `TAMPERED`, each with the class of its evidence."""

EXPLANATIONS = {
    "resolved": "Every required test ran and passed.",
    "f2p_fail": "A test the fix must make pass did not pass.",
    "p2p_regress": "A test that passed before the patch does not pass any more.",
    "collection_error": "A test file could not be imported with the patch, so required tests did not run.",
    "incomplete": "A required test did not run to its end.",
    "crash": "The test run broke down before its end.",
    "timeout": "The tests did not end within the time limit.",
    "memory": "The tests used more memory than the limit.",
    "output": "The tests wrote more output than the limit.",
    "canary_broken": "A control test with a known outcome broke down, so the other outcomes prove nothing.",
    "twin_suspect": "A test passed also with a false expectation in it, which an honest fix hardly does.",
    "twin_unclear": "The tests passed, but broke down twice when there were false expectations in them.",
    "empty": "There is no patch.",
    "unparsable": "The text is no unified diff.",
    "encoding": "The patch holds text that cannot be written to a file.",
    "too_large": "The patch, or a file it makes, is larger than any fix.",
    "illegal_path": "The patch names a path outside the repository or one no file may have.",
    "illegal_mode": "The patch makes something other than a file or a link.",
    "illegal_link": "The patch makes or passes through a link that may lead out of the repository.",
    "submodule": "The patch changes a submodule.",
    "path_conflict": "The patch puts a file where the repository has a directory, or the other way round.",
    "apply": "The patch does not apply to the base commit.",
    "infra": "The host failed the run; nothing is known about the patch.",
    "build": "The task's environment did not build; nothing is known about the patch.",
    "source": "The task's repository could not be had; nothing is known about the patch.",
    "quarantined": "No run of this task says anything about a patch.",
    "environment": "The test runner does not begin even on the unpatched code: the environment is broken.",
    "test_patch": "The task's own test patch does not apply, so no run says anything about a patch.",
} | {code: f"{kind}: {sentence}" for code, (kind, sentence) in TAMPERING.items()}
