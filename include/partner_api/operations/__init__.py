"""The calls of the interface: functions of a session, which are the methods of the client."""
