"""cadaver, a command-line client for WebDAV."""

import photos
from checking import Log, check
from service import FOLDER, shared

COMMANDS = """mkcol "Trip 1"
cd "Trip 1"
put "a b.jpg"
lock "a b.jpg"
showlocks
put second.jpg "a b.jpg"
unlock "a b.jpg"
move "a b.jpg" "moved ö.jpg"
copy "moved ö.jpg" copy.jpg
mkcol Sub
copy copy.jpg Sub/
ls
delete copy.jpg
cd ..
copy "Trip 1" "Trip 2"
rmcol "Trip 1"
put letter.txt
get "Trip 2/moved ö.jpg" out.jpg
quit
"""


@check
def cadaver_commands(log: Log):
    account = shared().account("cadaver")
    home = FOLDER / "cadaver"
    first, second = photos.photo(40_000), photos.photo(40_001)
    photos.write(home / "a b.jpg", first, 1_600_000_000)
    photos.write(home / "second.jpg", second, 1_600_000_000)
    photos.write(home / "letter.txt", b"Dear Ann,", 1_600_000_000)
    credentials = home / ".netrc"
    credentials.write_text(f"machine 127.0.0.1\nlogin {account.handle}\npassword {account.sync_password}\n")
    credentials.chmod(0o600)
    output = log.run("cadaver", account.plain_url, stdin=COMMANDS, cwd=home, HOME=str(home), LC_ALL="C.UTF-8")
    assert len([line for line in output.splitlines() if line.endswith("succeeded.")]) == 13, output
    # The letter is refused, because it is no photo. The original is refused, because originals cannot be read; cadaver has then
    # already created an empty file.
    assert "415" in output and "403" in output and (home / "out.jpg").stat().st_size == 0, output
    assert set(account.files.entries()) == {"Trip 2", "Trip 2/moved ö.jpg", "Trip 2/Sub", "Trip 2/Sub/copy.jpg"}
    assert len(account.library()) == 1, "the replaced photo is gone, and copies are one image"
