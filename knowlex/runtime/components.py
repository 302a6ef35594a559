"""settings.KNOWLEX -> the one instance of each configurable part in this process.

A part is named by role, for example
`KNOWLEX = {"EMBEDDER": {"class": "embeddings.embedders.local.LocalEmbedder", "options": {...}}}`.
"""

from collections.abc import Callable, Hashable
from threading import RLock
from typing import Any, TypeVar, cast

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed
from django.dispatch import receiver
from django.utils.module_loading import import_string

Part = TypeVar("Part")

_instances: dict[Hashable, Any] = {}
_lock = RLock()


def component(role: str, protocol: type[Part]) -> Part:
    """Return the configured part for `role`, built on first use and kept for the life of the process.

    `protocol` only tells the type checker (and the reader) what the part can do.
    Raises ImproperlyConfigured, naming the role, if it is unknown or cannot be built.
    """
    return cast(Part, kept(role, lambda: _build(role)))


def kept(key: Hashable, build: Callable[[], Part]) -> Part:
    """Parts of which there are several: the one under `key`, built on first use and kept like the others."""
    with _lock:
        if key not in _instances:
            _instances[key] = build()
        return cast(Part, _instances[key])


def all_built() -> list[Any]:
    """Return the parts that anyone has asked for yet; for closing what they hold open."""
    with _lock:
        return list(_instances.values())


def forget_components() -> None:
    """Drop all instances; the next `component()` builds anew (after a fork, or in tests)."""
    with _lock:
        _instances.clear()


def _build(role: str) -> Any:
    try:
        spec = settings.KNOWLEX[role]
    except KeyError as exc:
        raise ImproperlyConfigured(f"KNOWLEX has no part named {role!r}.") from exc
    try:
        return import_string(spec["class"])(**spec.get("options", {}))
    except (ImportError, TypeError, ValueError) as exc:
        raise ImproperlyConfigured(f"KNOWLEX[{role!r}] cannot be built: {exc}") from exc


@receiver(setting_changed)
def _on_setting_changed(*, setting: str, **_: Any) -> None:
    if setting == "KNOWLEX":
        forget_components()
