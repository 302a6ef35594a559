#!/usr/bin/env python
import sys

if __name__ == "__main__":
    from knowlex.cli import main

    main(sys.argv)
