"""Files that grow: followed by their content, through renames and rotations.

    names.py           the files of a path or a pattern, and their names after rotation
    mark.py            what identifies the first bytes of a content
    content.py         a file's bytes from an offset on, plain or gzip
    file_part.py       one content and how far it has been read
    known.py           whether a file still holds the content that was read from it
    identification.py  which content an unknown file holds
    lines_ahead.py     decodes lines, some of them ahead
    read_pace.py       how many bytes of a file are read at a time, beside others
    part_reader.py     which file is read next: a writer's in their order, others by event time
    follower.py        finds the files, identifies their content, and resumes

A rotation renames a file, copies and truncates it, or compresses it, and another file may
get its inode. None of these changes the bytes that were already read. So a content is
identified by its first bytes, the last bytes read and a checksum of all bytes read, and by
its inode as long as that file still holds it.
"""

from monitor.feeds.follow.follower import FollowedFiles

__all__ = ["FollowedFiles"]
