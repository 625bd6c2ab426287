"""`python -m porter`."""

from porter.cli.main import run

if __name__ == "__main__":
    run()
