"""Who may call what, for every combination of keys."""

from __future__ import annotations

import pytest

from simengine.access import Keys

SCALE, MODELS, HEALTH = "/scale_elastic_ep", "/v1/models", "/health_generate"


@pytest.mark.parametrize(
    ("keys", "bearer", "allowed"),
    [
        (Keys(), None, {SCALE, MODELS, HEALTH}),
        (Keys(api="user"), None, {HEALTH}),
        (Keys(api="user"), "user", {SCALE, MODELS, HEALTH}),
        (Keys(admin="root"), None, {MODELS, HEALTH}),
        (Keys(admin="root"), "root", {SCALE, MODELS, HEALTH}),
        (Keys(api="user", admin="root"), "user", {MODELS, HEALTH}),
        (Keys(api="user", admin="root"), "root", {SCALE, HEALTH}),
    ],
)
def test_keys_open_these_routes(keys: Keys, bearer: str | None, allowed: set[str]) -> None:
    authorization = f"Bearer {bearer}" if bearer else None
    opened = {
        path
        for path in (SCALE, MODELS, HEALTH)
        if keys.allow(method="GET", path=path, authorization=authorization)
    }
    assert opened == allowed


@pytest.mark.parametrize("header", ["root", "Basic root", "Bearer", "Bearer  root", "Bearer röot"])
def test_malformed_header_opens_nothing(header: str) -> None:
    keys = Keys(admin="root")
    assert not keys.allow(method="GET", path=SCALE, authorization=header)


def test_scheme_is_read_in_any_case() -> None:
    assert Keys(admin="root").allow(method="GET", path=SCALE, authorization="bEARER root")
