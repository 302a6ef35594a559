"""A collection as one file, and back: documents, pages, chunks, vectors and settings.

The file is a tar archive, in one pass readable and writable, so that pipes will do:

    manifest.json                       format, version, collection, models
    documents/000001/document.json      the row, its pages and its chunks
    documents/000001/vectors-0.f32      of manifest.models[0]: little-endian float32, a row for each chunk
                                        that document.json lists for the model
    documents/000001/sentences-0.f16    of the same model, where it has any: little-endian float16, a row for
                                        each sentence that document.json lists (not in version 1)
    documents/000001/original           the uploaded bytes
    …
    end.json                            how many documents there were: without it the file is cut off
"""

from embeddings.transfer.exporting import Exported, export_collection
from embeddings.transfer.importing import Imported, import_collection

__all__ = ["Exported", "Imported", "export_collection", "import_collection"]
