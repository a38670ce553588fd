"""What has to be known of a task before its verdicts can be relied on: found out by running its tests."""
