from collections.abc import Callable

__version__: str

class CallError(Exception): ...

def call(
    name: str, arguments: str, observer: Callable[[str], None] | None = None, stopped: Callable[[], bool] | None = None
) -> str: ...
def call_names() -> list[str]: ...
