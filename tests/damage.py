"""What may have happened to a derived file since it was written."""

HOW = ("flip", "cut", "begin", "nothing", "folder")


def spoil(path, whole, at, how):
    """The file that held `whole`, spoilt at that byte; a folder in its place, wherever that is."""
    if how == "folder":
        path.unlink()
        path.mkdir()
        return
    path.write_bytes(
        {
            "flip": whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :],
            "cut": whole[:at],
            "begin": whole[at:] + whole[:at],
            "nothing": b"",
        }[how]
    )
