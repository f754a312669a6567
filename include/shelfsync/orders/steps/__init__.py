"""The steps of orders, with their I/O: take, hand_over, collect, fulfil, history, watch, forget."""
