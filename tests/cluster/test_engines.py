"""The same rows through Dask, Ray and Spark: equal tables, also where a worker is killed on the way.

``make test-cluster`` installs what they need; elsewhere these tests are skipped. Each worker that is killed
leaves a mark first, so that it happens once.
"""

import os
import shutil
import signal
from pathlib import Path

import pandas as pd
import pytest

pytestmark = pytest.mark.filterwarnings("default")  # what other people's engines warn of is theirs


def killed_once(mark, number):
    """End this process the first time that anybody gets here."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("killed", [False, True])
def test_dask(explainer, rows, same, tmp_path, killed):
    pytest.importorskip("dask.dataframe", reason="Dask is not installed")
    distributed = pytest.importorskip("distributed", reason="Dask's distributed is not installed")
    from dask import dataframe

    mark = str(tmp_path / "mark")

    def explained(part):
        if killed and len(part) and part.index[0] == "=c200":
            killed_once(mark, signal.SIGKILL)
        return explainer.explain_table(part, "yes")

    with (
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster),
    ):
        parts = dataframe.from_pandas(rows.set_index("id"), npartitions=10, sort=False)
        empty = explainer.explain_table(rows.set_index("id").head(0), "yes")
        found = parts.map_partitions(explained, meta=empty).compute()
    assert same(found.reset_index(drop=True))
    assert os.path.exists(mark) == killed


@pytest.fixture(scope="module")
def ray_is_running():
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    pytest.importorskip("ray.data", reason="Ray's data library is not installed")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=200_000_000)
    yield ray
    ray.shutdown()


@pytest.mark.parametrize("killed", [False, True])
def test_ray(explainer, rows, same, tmp_path, ray_is_running, killed):
    mark = str(tmp_path / "mark")

    def explained(batch):
        if killed and (batch["id"] == "=c200").any():
            killed_once(mark, signal.SIGKILL)
        return explainer.explain_table(batch.set_index("id"), "yes").reset_index(drop=True)

    found = ray_is_running.data.from_pandas(rows).repartition(10)
    assert same(found.map_batches(explained, batch_format="pandas", batch_size=50).to_pandas())
    assert os.path.exists(mark) == killed


@pytest.fixture(scope="module")
def spark():
    pytest.importorskip("pyspark", reason="Spark is not installed")
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        pytest.skip("Spark needs Java, which is not installed")
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", os.sys.executable)
    home = str(Path(__file__).parents[2])
    session = (
        SparkSession.builder.master("local[2,3]")  # two cores; a task is tried three times
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.executorEnv.PYTHONPATH", home)
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.mark.parametrize("killed", [False, True])
def test_spark(explainer, rows, same, tmp_path, spark, killed):
    from pyspark.sql.pandas.types import from_arrow_schema

    mark = str(tmp_path / "mark")

    def explained(frames):
        for frame in frames:
            if killed and (frame["id"] == "=c200").any():
                killed_once(mark, signal.SIGKILL)
            yield explainer.explain_table(frame.set_index("id"), "yes")

    table = spark.createDataFrame(rows).repartition(10)
    schema = from_arrow_schema(explainer.table_schema())
    found = table.mapInPandas(explained, schema=schema).toPandas()
    assert same(found)
    assert os.path.exists(mark) == killed


@pytest.mark.parametrize("reader", ["pandas", "duckdb", "polars"])
def test_others_read_what_is_written(explainer, rows, expected, tmp_path, reader):
    module = pytest.importorskip(reader, reason=f"{reader} is not installed")
    for name in ("o.parquet", "o.csv"):
        path = tmp_path / name
        explainer.explain_to(rows.head(60), path, "id", n_jobs=1, target="yes", progress=False)
        if reader == "duckdb":
            table = module.sql(f"select * from '{path}'").df()
        elif reader == "polars":
            read = module.read_parquet if name.endswith("parquet") else module.read_csv
            table = pd.DataFrame(read(path).to_dict(as_series=False))
        else:
            table = pd.read_parquet(path) if name.endswith("parquet") else pd.read_csv(path)
        assert table["distance"].astype(float).tolist() == expected["distance"].head(60).tolist()
        assert table["status"].tolist() == expected["status"].head(60).tolist()
        assert list(table.columns) == list(expected.columns)
