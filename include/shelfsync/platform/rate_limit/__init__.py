"""The shared request allowance: a maximum of requests per minute over all processes, the most urgent work first."""
