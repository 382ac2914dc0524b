from typing import Final

from blockwire.client import AsyncClient as AsyncClient
from blockwire.client import Client as Client
from blockwire.client import ClientError as ClientError
from blockwire.errors import BlockwireError as BlockwireError

__all__ = ["AsyncClient", "BlockwireError", "Client", "ClientError", "__version__"]

__version__: Final[str]
