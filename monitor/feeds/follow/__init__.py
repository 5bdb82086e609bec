"""Files that grow: followed by what they hold, whatever name or place it has now.

    names.py      which files a path or a pattern stands for, and what they are called once rotated
    content.py    a file's lines from an offset on, plain or gzip, and by what they are known again
    part.py       one file's content and how far it has been read
    known.py      whether a file still holds what is known of it
    meeting.py    whose content a file holds that has come, or has another inode
    follower.py   the parts together: found, told apart, read, resumed

A rotation renames a file, copies and cuts it, or packs it; an inode may be taken by
another file. None of these changes what was read of a content: by that it is known, its
first bytes, its last ones and a checksum of all, and by its inode where that still holds it.
"""

from monitor.feeds.follow.follower import FollowedFiles

__all__ = ["FollowedFiles"]
