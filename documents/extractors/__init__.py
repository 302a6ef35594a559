"""Bytes -> text with its structure. Whatever parses runs in a child process that can be killed.

The parent's side
    `sandbox`               the extractor that settings.KNOWLEX names
    `owner`, `listening`, `wire`, `frames`   its nursery, what a child tells, and how that travels
    `turns`, `limits`       how many at a time, and what each may cost

The child's side
    `nursery`, `warming`    forks a child for each file from a process that has loaded all it needs
    `jail`, `syscalls`, `confined`   limits, and what may be asked of the kernel
    `reading`, `sniffing`, `kinds`   what a file is, and who reads it
    `failures`              how a reader says that there is no text
    `cleaning`, `composing`, `metadata`, `decoding`, `flattening`   what readers share

PDF
    `pdf`, `pdfium`, `pypdf`, `pages`, `guarded`, `quality`   two libraries, and whose page is kept
    `layout`, `geometry`, `looks`, `hyphens`, `running`, `tables`, `arrangement`   lines -> paragraphs
    `outline`, `detection`  headings, by the outline or by how they look
    `scans`, `pictures`, `ocr`, `tesseract`   pages that are pictures

The others
    `markdown`, `frontmatter`, `text`
    `html`, `markup`
    `docx`, `wordtext`, `wordstyles`
"""
