"""One machine, two commands: real servers and the portal's processes under one supervisor."""
