"""The calls of the interface, each written once as steps and driven by both clients (`operation`)."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from partner_api.client import AsyncPartnerClient, PartnerClient
    from partner_api.session import Session
    from partner_api.wire import Steps

P = ParamSpec("P")
R = TypeVar("R")


class operation(Generic[P, R]):  # noqa: N801  it reads as a word of the class body, like property
    """Makes steps a method: `PartnerClient` returns their result, `AsyncPartnerClient` an awaitable of it."""

    def __init__(self, steps: Callable[Concatenate[Session, P], Steps[R]]) -> None:
        self._steps = steps
        session_first = inspect.signature(steps)
        self._signature = session_first.replace(parameters=list(session_first.parameters.values())[1:])
        self.__doc__ = steps.__doc__

    @overload
    def __get__(self, client: None, owner: type) -> operation[P, R]: ...
    @overload
    def __get__(self, client: PartnerClient, owner: type) -> Callable[P, R]: ...
    @overload
    def __get__(self, client: AsyncPartnerClient, owner: type) -> Callable[P, Coroutine[Any, Any, R]]: ...

    def __get__(self, client: Any, owner: type) -> Any:
        if client is None:
            return self

        @functools.wraps(self._steps)
        def call(*args: P.args, **kwargs: P.kwargs) -> Any:
            return client.run(self._steps(client.session, *args, **kwargs))

        call.__signature__ = self._signature  # type: ignore[attr-defined]  # what help() shows: without the session
        return call
