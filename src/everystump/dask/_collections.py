"""Dask arrays and dataframes as chunks of a training table, and lazy predictions on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from dask import delayed, is_dask_collection
from distributed import Client, futures_of

from everystump._tables.headers import Chunk


def make_chunks(X: Any, y: Any, sample_weight: Any) -> list[Any]:
    """Return delayed chunks, one per partition of ``X``."""
    collections = {"X": X, "y": y, "sample_weight": sample_weight}
    if sample_weight is None:
        del collections["sample_weight"]
    if all(map(_is_frame, collections.values())):
        return _frame_chunks(collections)
    parts = _rows_of(X, "X")
    columns = [parts]
    columns += [_aligned(part, name, X, len(parts)) for name, part in collections.items()][1:]
    return [delayed(Chunk)(*part) for part in zip(*columns, strict=True)]


def _is_frame(collection: Any) -> bool:
    """Whether a collection is a Dask dataframe or series."""
    return is_dask_collection(collection) and hasattr(collection, "divisions")


def _frame_chunks(frames: dict[str, Any]) -> list[Any]:
    """Return the chunks of dataframes and series with the same partitions.

    They form one graph: separately, Dask may join the partitions of one but not of the other, as it
    does for files of which few columns are read.
    """
    import dask.dataframe as dd

    n_parts = frames["X"].npartitions
    for name, frame in frames.items():
        _check_n_parts(name, frame.npartitions, n_parts)
    chunks = dd.map_partitions(
        Chunk,
        *frames.values(),
        meta=(None, object),
        align_dataframes=False,
        enforce_metadata=False,
    )
    return list(chunks.to_delayed())


def _check_n_parts(name: str, n_parts: int, expected: int) -> None:
    if n_parts != expected:
        raise ValueError(
            f"{name} has {n_parts} partitions, but X has {expected}; repartition one of them."
        )


def _rows_of(X: Any, name: str) -> list[Any]:
    """Return the partitions of a collection as delayed objects."""
    if not is_dask_collection(X) or not hasattr(X, "to_delayed"):
        raise TypeError(
            f"{name} is a {type(X).__name__}, but a Dask array or dataframe is needed; use "
            f"dask.array.from_array or dask.dataframe.from_pandas, or the estimator without Dask."
        )
    if hasattr(X, "npartitions") and not hasattr(X, "chunks"):
        return list(X.to_delayed())
    if X.ndim > 1 and len(X.chunks[1]) > 1:
        if np.isnan(X.chunks[0]).any():
            raise ValueError(
                f"{name} has unknown chunk sizes and is divided by columns; call "
                f"{name}.compute_chunk_sizes() first."
            )
        X = X.rechunk({1: -1})
    return X.to_delayed().ravel().tolist()


def _aligned(part: Any, name: str, X: Any, n_parts: int) -> list[Any]:
    """Return the partitions of labels or weights, divided like ``X``."""
    chunks, own = getattr(X, "chunks", None), getattr(part, "chunks", None)
    if chunks is not None and own is not None and own[0] != chunks[0]:
        known = not (np.isnan(chunks[0]).any() or np.isnan(own[0]).any())
        if known and sum(own[0]) != sum(chunks[0]):
            raise ValueError(
                f"{name} has {sum(own[0])} rows, but X has {sum(chunks[0])}; pass one for each row."
            )
        if known:
            part = part.rechunk({0: chunks[0]})
        elif len(own[0]) != len(chunks[0]):
            raise ValueError(
                f"{name} has {len(own[0])} chunks and X has {len(chunks[0])}, of unknown sizes; "
                f"call compute_chunk_sizes() on both first."
            )
    parts = _rows_of(part, name)
    _check_n_parts(name, len(parts), n_parts)
    return parts


def assign_chunks(client: Client, X: Any, n_chunks: int) -> dict[str, list[int]]:
    """Return the chunks of each worker: where they are in memory, otherwise evenly by threads."""
    threads = client.nthreads()
    if not threads:
        raise ValueError("The cluster of the client has no workers; start some and fit again.")
    placed = _placement(client, X, n_chunks)
    slots = [worker for worker, n in sorted(threads.items()) for _ in range(n)]
    even = [slots[k * len(slots) // n_chunks] for k in range(n_chunks)]
    assignment: dict[str, list[int]] = {}
    for k in range(n_chunks):
        worker = placed[k] if placed[k] in threads else even[k]
        assignment.setdefault(str(worker), []).append(k)
    return dict(sorted(assignment.items(), key=lambda item: item[1][0]))


def _placement(client: Client, X: Any, n_chunks: int) -> list[str | None]:
    """Return the worker that holds each partition of a persisted collection, None if none does."""
    futures = {future.key: future for future in futures_of(X)}
    keys = [key[0] if isinstance(key, list) else key for key in X.__dask_keys__()]
    if len(keys) != n_chunks or not all(key in futures for key in keys):
        return [None] * n_chunks
    holders = client.who_has([futures[key] for key in keys])
    return [next(iter(holders.get(key, holders.get(str(key), ()))), None) for key in keys]


def map_rows(X: Any, function: Callable, columns: int | None, dtype: Any) -> Any:
    """Return a lazy array of a function of the rows of a collection.

    ``columns`` is the number of columns of the result, None for one value per row.
    """
    import dask.array as da

    empty = np.empty((0,) if columns is None else (0, columns), dtype)

    def apply(part: Any) -> Any:
        return function(part) if len(part) else empty

    if hasattr(X, "chunks"):
        if X.ndim > 1 and len(X.chunks[1]) > 1:
            X = X.rechunk({1: -1})
        if columns is None:
            return X.map_blocks(apply, drop_axis=1, dtype=dtype, meta=empty)
        return X.map_blocks(apply, chunks=(X.chunks[0], (columns,)), dtype=dtype, meta=empty)
    shape = (np.nan, *empty.shape[1:])
    lazy = delayed(apply, pure=False)
    return da.concatenate([da.from_delayed(lazy(part), shape, dtype) for part in X.to_delayed()])
