"""`python -m symdiff`: the command line."""

from symdiff.cli.commands import main

if __name__ == "__main__":
    main(prog_name="python -m symdiff")
