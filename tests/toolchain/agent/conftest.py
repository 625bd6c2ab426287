from tests.pure.agent.conftest import serve

__all__ = ["serve"]
