from surefoot import Status


def test_every_status_has_a_sentence_of_its_own():
    assert len({status.sentence for status in Status}) == len(Status)


def test_a_search_that_was_cut_short_has_two_names():
    cut_short = [status for status in Status if status.is_cut_short]
    assert len(cut_short) == 10
    for status in cut_short:
        assert status.with_point.has_point
        assert not status.without_point.has_point
        assert status.without_point == f"{status.with_point}_no_point"


def test_any_other_has_one():
    for status in Status:
        if not status.is_cut_short:
            assert status.with_point is status.without_point is status
