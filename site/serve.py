"""Serves the built site on this machine, isolated from other origins as the runtime likes it.

    python site/serve.py [--port 8000] [--folder build/site]
"""

from __future__ import annotations

import argparse
import gzip
import http.server
import io
import re
from functools import lru_cache, partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

__all__ = ["Handler", "server"]

#: The types of files that hosts compress; other files are packed already.
TEXT = {".html", ".css", ".js", ".mjs", ".json", ".svg", ".txt", ".xml"}
BUILT = Path(__file__).resolve().parent.parent / "build" / "site"


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files with the types and headers that a page with a worker needs."""

    packed = b""
    extensions_map = http.server.SimpleHTTPRequestHandler.extensions_map | {
        ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm",
        ".whl": "application/zip", ".json": "application/json", ".svg": "image/svg+xml",
        ".ipynb": "application/x-ipynb+json", ".woff2": "font/woff2"}

    def translate_path(self, path: str) -> str:
        """Return the file of an address, which may begin with the path that the site will have."""
        base = base_of(Path(self.directory))
        return super().translate_path(
            path.removeprefix(base[:-1]) if path.startswith(base) else path)

    def send_head(self) -> Any:
        """Send text compressed, as hosts do, to a browser that takes it so."""
        self.packed = b""
        file = Path(self.translate_path(self.path))
        if file.is_dir() and urlsplit(self.path).path.endswith("/"):  # else it is led there
            file /= "index.html"
        if (file.suffix in TEXT and file.is_file()
                and "gzip" in self.headers.get("Accept-Encoding", "")):
            self.packed = compressed(file, file.stat().st_mtime_ns)
        sent: BinaryIO | None = super().send_head()
        if sent is None or not self.packed:
            return sent
        sent.close()
        return io.BytesIO(self.packed)

    def send_header(self, keyword: str, value: str) -> None:
        """Send the headers of a compressed file: its encoding and length."""
        if keyword == "Content-Length" and self.packed:
            super().send_header("Content-Encoding", "gzip")
            super().send_header("Vary", "Accept-Encoding")
            value = str(len(self.packed))
        super().send_header(keyword, value)

    def list_directory(self, path: Any) -> None:
        """A folder without a page is nothing to show."""
        self.send_error(HTTPStatus.NOT_FOUND)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Show the site's own page for what is not there."""
        page = Path(self.directory, "404.html")
        if code != HTTPStatus.NOT_FOUND or not page.exists():
            super().send_error(code, message, explain)
            return
        content, self.packed = page.read_bytes(), b""
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def end_headers(self) -> None:
        """Add what isolates the site: only then may a worker be interrupted."""
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Cache-Control", "no-cache")  # asked for again, sent only if it changed
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the terminal quiet."""


@lru_cache(maxsize=64)
def compressed(file: Path, changed: int) -> bytes:
    """Return a file's bytes as gzip packs them; `changed` is when it was written."""
    return gzip.compress(file.read_bytes(), 6, mtime=0)


def base_of(folder: Path) -> str:
    """Return the path of the site's address, for which it was built: "/" or "/minigrad/"."""
    try:
        found = re.search("<loc>(.*?)</loc>", (folder / "sitemap.xml").read_text(encoding="utf-8"))
    except OSError:
        found = None
    return urlsplit(found[1]).path if found else "/"


def server(folder: Path = BUILT, port: int = 0) -> http.server.ThreadingHTTPServer:
    """Return a server of a folder, on this machine only; port 0 takes a free one."""
    handler = partial(Handler, directory=str(folder))
    return http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--folder", type=Path, default=BUILT)
    given = parser.parse_args()
    if not (given.folder / "index.html").exists():
        raise SystemExit(f"there is no site in {given.folder}: `make site` builds it")
    running = server(given.folder, given.port)
    print(f"The site is at http://127.0.0.1:{running.server_port}/ (Ctrl-C ends it)", flush=True)
    try:
        running.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
