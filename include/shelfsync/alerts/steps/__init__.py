"""What pages, the command line and Airflow do with alerts: list, acknowledge, mute, send."""
