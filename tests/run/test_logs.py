"""The log: one JSON object a line, which says of which reconcile it is."""

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from elasticep.run import logs
from elasticep.world.key import Key

LOG = logging.getLogger("elasticep.test")


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    before = root.level, root.handlers[:]
    stream = io.StringIO()
    logs.set_up(level="info", stream=stream)
    yield stream
    root.level, root.handlers[:] = before


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_is_an_object_with_a_time_that_names_its_zone(stream: io.StringIO) -> None:
    LOG.info("EP size %d → %d", 4, 6)
    [line] = lines(stream)
    moment = datetime.fromisoformat(line.pop("time"))
    assert moment.utcoffset() is not None
    assert line == {"level": "info", "logger": "elasticep.test", "message": "EP size 4 → 6"}


def test_extras_are_fields(stream: io.StringIO) -> None:
    LOG.warning("slow", extra={"seconds": 3, "key": Key(namespace="a", name="b")})
    [line] = lines(stream)
    assert (line["seconds"], line["key"]) == (3, "a/b")


def test_a_traceback_stays_on_its_line(stream: io.StringIO) -> None:
    try:
        divmod(1, 0)
    except ZeroDivisionError:
        LOG.exception("a defect")
    [line] = lines(stream)
    assert line["level"] == "error"
    assert "ZeroDivisionError" in line["error"]


async def test_lines_of_a_reconcile_name_it_and_its_group(stream: io.StringIO) -> None:
    async def reconcile(name: str) -> None:
        logs.name_the_reconcile(Key(namespace="default", name=name))
        for _ in range(2):
            await asyncio.sleep(0)
            await asyncio.create_task(below())

    async def below() -> None:
        LOG.info("from a layer that knows of no group")

    await asyncio.gather(reconcile("one"), reconcile("two"))
    LOG.info("outside")
    *inside, outside = lines(stream)
    of = {name: [line for line in inside if line["name"] == name] for name in ("one", "two")}
    assert {len(of_one) for of_one in of.values()} == {2}
    ids = [{line["reconcile"] for line in each} for each in of.values()]
    assert [len(each) for each in ids] == [1, 1]
    assert ids[0] != ids[1]
    assert {line["namespace"] for line in inside} == {"default"}
    assert "reconcile" not in outside


@pytest.mark.parametrize("name", ["kopf.objects", "kopf._core.reactor", "aiohttp.access"])
def test_libraries_speak_up_only_when_something_is_wrong(stream: io.StringIO, name: str) -> None:
    logging.getLogger(name).info("handler 'group' succeeded")
    logging.getLogger(name).warning("the watch broke")
    assert [line["message"] for line in lines(stream)] == ["the watch broke"]


def test_a_level_is_obeyed(stream: io.StringIO) -> None:
    logs.set_up(level="error", stream=stream)
    LOG.warning("no")
    logging.getLogger("kopf").warning("no")
    LOG.error("yes")
    assert [line["message"] for line in lines(stream)] == ["yes"]
