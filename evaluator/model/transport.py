"""An HTTP client that reads no answer beyond a bound, however it is compressed or chunked."""

from typing import Any

import httpx2

LARGEST_BODY = 32 * 2**20
_FRAMING = frozenset({"content-encoding", "content-length", "transfer-encoding"})


class BoundedClient(httpx2.AsyncClient):
    """Reads each body up to `LARGEST_BODY` decoded bytes; a longer one is a ReadError."""

    async def send(
        self,
        request: httpx2.Request,
        *,
        stream: bool = False,  # noqa: ARG002 - part of the signature; a bounded body is always read whole
        **options: Any,
    ) -> httpx2.Response:
        response = await super().send(request, stream=True, **options)
        body = bytearray()
        try:
            async for part in response.aiter_bytes():
                body += part
                if len(body) > LARGEST_BODY:
                    raise httpx2.ReadError(f"answer larger than {LARGEST_BODY} bytes", request=request)
        finally:
            await response.aclose()
        headers = [header for header in response.headers.multi_items() if header[0].lower() not in _FRAMING]
        return httpx2.Response(response.status_code, headers=headers, content=bytes(body), request=request)
