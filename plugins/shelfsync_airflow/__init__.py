"""What shelfsync adds to Airflow. Every process of Airflow that works with it imports this: what they write is private from then on."""

from shelfsync.file_access import keep_private

keep_private()
