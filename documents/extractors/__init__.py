"""Extraction: bytes -> text with its structure. Whatever parses runs in a child process that can be killed.

Layers, from above
    `sandbox`       the extractor that settings.KNOWLEX names, and the jailed processes that it uses
        `extractor`     the parent's side: it hands files to a fork server and limits what they cost
        `fork_server`, `jail`   the child's side: a process for each file, and what it may ask of the kernel
        `wire`, `fair_semaphore`, `ocr`   their protocol, waiting in order, text recognition by Tesseract
    `readers`       which type a file is, and the reader for it
    `html`, `markup`, `docx`, `docx_text`, `markdown`, `text`   the readers of the formats
    `embedded_html` the tags within Markdown
    `office`        the readers of what offices work with
        `xlsx`, `csv_table`   tables, whose parts `sheets` makes
        `pptx`, `odt`, `rtf`, `epub`   presentations, texts, e-books
        `mail`, `msg`   mail as it was sent, and as Outlook keeps it
    `pdf`           the reader of PDFs
        `reader`        two libraries, and whose page is kept
        `pdfium`, `pypdf_reader`, `pages`   the libraries behind one protocol
        `rulings`, `ruled_tables`   ruling lines -> grids, and the letters in the order of their cells
        `structure`, `heading_detection`, `layout`   lines -> paragraphs, headings, tables and lists
    `composer`, `decoding`, `cleaning`, `packages`   what readers share
    `job`, `failures`   what is to be read, within which limits, and how it fails
"""
