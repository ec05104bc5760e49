import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from surefoot.exceptions import DataError
from surefoot.model.calibration import Calibration, fit_calibration


def log_loss(joint, codes):
    return -log_softmax(joint, axis=1)[np.arange(len(codes)), codes].mean()


def overconfident(rng, rows, classes, temperature, shifts):
    """Joint log densities whose honest version is at the given temperature and shifts."""
    joint = rng.normal(0, 4, (rows, classes))
    odds = log_softmax(joint / temperature + shifts, axis=1)
    codes = np.array([rng.choice(classes, p=p) for p in np.exp(odds)])
    return joint, codes


def test_temperature_and_shifts_are_found(rng):
    joint, codes = overconfident(rng, 20_000, 3, 3.0, np.array([0.0, 1.0, -0.5]))
    found = fit_calibration(joint, codes)
    assert found.temperature == pytest.approx(3.0, rel=0.05)
    np.testing.assert_allclose(found.shifts, [0.0, 1.0, -0.5], atol=0.1)


def test_two_classes_are_a_sigmoid(rng):
    joint, codes = overconfident(rng, 2000, 2, 5.0, np.array([0.0, 0.7]))
    found = fit_calibration(joint, codes)
    odds = (joint[:, 1] - joint[:, 0])[:, None]
    sigmoid = LogisticRegression(C=1e8).fit(odds, codes)
    assert 1 / found.temperature == pytest.approx(sigmoid.coef_[0, 0], rel=0.01)
    assert found.shifts[1] == pytest.approx(sigmoid.intercept_[0], abs=0.01)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3, 1e5])
def test_the_loss_never_rises(rng, scale):
    joint, codes = overconfident(rng, 300, 3, 2.0, np.zeros(3))
    found = fit_calibration(scale * joint, codes)
    assert log_loss(found(scale * joint), codes) <= log_loss(scale * joint, codes) + 1e-9
    assert np.isfinite([found.temperature, *found.shifts]).all()
    if scale >= 1:
        assert found.temperature == pytest.approx(2.0 * scale, rel=0.5)


def test_classes_that_separate_stay_finite():
    codes = np.arange(40) % 2
    joint = np.column_stack([np.zeros(40), np.where(codes == 1, 9.0, -9.0)])
    found = fit_calibration(joint, codes)
    assert 0.1 < found.temperature < 10
    assert abs(found.shifts[1]) < 0.01
    hopeless = fit_calibration(-joint, codes)
    assert hopeless.temperature > 100
    assert log_loss(hopeless(-joint), codes) == pytest.approx(np.log(2), abs=0.02)


def test_the_order_of_the_classes_does_not_matter(rng):
    joint, codes = overconfident(rng, 200, 3, 2.0, np.array([0.0, 2.0, 1.0]))
    found, turned = fit_calibration(joint, codes), fit_calibration(joint[:, ::-1], 2 - codes)
    assert turned.temperature == pytest.approx(found.temperature, rel=1e-4)
    expected = np.array(found.shifts)[::-1] - found.shifts[2]
    np.testing.assert_allclose(turned.shifts, expected, atol=1e-3)


def test_weights_are_repetitions(rng):
    joint, codes = overconfident(rng, 200, 2, 2.0, np.array([0.0, 1.0]))
    w = rng.integers(0, 4, 200)
    weighted = fit_calibration(joint, codes, w.astype(float))
    repeated = fit_calibration(np.repeat(joint, w, axis=0), np.repeat(codes, w))
    assert weighted.temperature == pytest.approx(repeated.temperature, rel=1e-3)
    assert weighted.shifts[1] == pytest.approx(repeated.shifts[1], abs=1e-3)


def test_far_rows_do_not_overflow():
    joint = np.array([[0.0, -1e280], [-3.0, 0.0], [0.0, -2.0], [-1e280, -1e270]] * 5)
    found = fit_calibration(joint, np.array([0, 1, 0, 1] * 5))
    assert np.isfinite([found.temperature, *found.shifts]).all()


@pytest.mark.parametrize("far", [1e3, 1e6, 1e200])
def test_a_row_from_nowhere_does_not_flatten_the_rest(rng, far):
    joint, codes = overconfident(rng, 600, 2, 3.0, np.zeros(2))
    alone = fit_calibration(joint, codes)
    joint[0], codes[0] = (0.0, far), 0
    found = fit_calibration(joint, codes)
    assert alone.temperature < found.temperature < 1.5 * alone.temperature
    assert log_loss(found(joint[1:]), codes[1:]) < log_loss(alone(joint[1:]), codes[1:]) + 0.01


def test_impossible_calibrations():
    for wrong in [(0.0, (0.0, 1.0)), (-1.0, (0.0, 1.0)), (1.0, (0.0, np.nan))]:
        with pytest.raises(DataError, match="positive and shifts finite"):
            Calibration(*wrong)
    with pytest.raises(DataError, match="first shift must be zero"):
        Calibration(1.0, (0.5, 1.0))
