"""No page takes files: a multipart body with one is refused before a byte of it is stored."""

from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.core.files.uploadhandler import FileUploadHandler


class NoUploads(FileUploadHandler):
    """The only upload handler there is."""

    def new_file(self, *args: Any, **options: Any) -> None:
        """400, whoever sends it."""
        raise SuspiciousOperation("no page takes files")

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        """Never reached; nothing would be kept."""
        return None

    def file_complete(self, file_size: int) -> None:
        """Never reached."""
