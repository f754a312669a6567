"""What pages, the command line and Airflow do with holds: list them, ask about them, decide them."""
