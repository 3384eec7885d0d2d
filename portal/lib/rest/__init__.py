"""What the APIs of all apps share: bodies, fields, pages, the view they start from and how they are documented.

It lies on the floor because the faces of different apps may not know each other.
"""
