"""Against verdicts of official evaluations."""

from recorded_logs import recorded

from evaluator.official import official_verdict


def test_recorded_evaluations_get_their_verdict_again() -> None:
    """The same verdict for every log, and every id in the list it was in.

    Since release 5 a log without any result is refused; before that, each of its ids had failed.
    """
    resolved = 0
    for log in recorded():
        resolved += log.resolved
        again = official_verdict(
            log.text,
            parser=log.parser,
            fail_to_pass=log.fail_to_pass,
            pass_to_pass=log.pass_to_pass,
            instance_id=log.instance_id,
        )
        assert again.resolved == log.resolved, (log.instance_id, log.submission)
        for name, lists in log.tests_status.items():
            if again.reason == "no_results":
                assert not lists["success"], (log.instance_id, log.submission)
            else:
                found = again.tests_status[name]
                assert {key: set(ids) for key, ids in found.items()} == {
                    key: set(ids) for key, ids in lists.items()
                }, (log.instance_id, log.submission)
    assert resolved
