"""Files that grow: followed by what they hold, whatever name or place it has now.

    names.py      which files a path or a pattern stands for, and what they are called once rotated
    content.py    a file's lines from an offset on, plain or gzip, and its head
    part.py       one file's content and how far it has been read
    follower.py   the parts together: found, told apart, read, resumed

A rotation renames a file, copies and cuts it, or packs it; an inode may be taken by
another file. None of these changes the first bytes of what was written, the head,
and so a content is known by its head and, where that is still so, its inode.
"""

from monitor.feeds.follow.follower import FollowedFiles

__all__ = ["FollowedFiles"]
