"""Processes that run what nobody trusts: started, asked, held to limits, and ended from here."""
