"""traces.py ORIGINAL COPY [N]: prints texts of the original that are in the copy's bytes.

Exits with 0 if there are none, or at most N of less than 12 bytes, and every table has as many rows.
"""
import json, os, plistlib, re, shutil, sqlite3, sys, tempfile, zlib
original, fixture = sys.argv[1:3]
allowed = int(sys.argv[3]) if len(sys.argv) > 3 else 0
known = b''


def listed(value):
    """The texts in a property list, an archive or JSON; None for other bytes. Adds what these are made of to `known`."""
    global known
    try:
        if value[:6] == b'bplist' or value[:5] == b'<?xml': tree = plistlib.loads(value)
        elif value[:1] in (b'{', b'['): tree = json.loads(value)
        else: return None
    except Exception: return None
    leaves, names = [], []
    def walk(part, isName):
        if isinstance(part, str): (names if isName or part.startswith('$') else leaves).append(part.encode())
        elif isinstance(part, bytes): leaves.extend(re.findall(rb'[ -~]{6,}', part))
        elif isinstance(part, list):
            for one in part: walk(one, isName)
        elif isinstance(part, dict):
            for key, one in part.items():
                names.append(key.encode())
                walk(one, isName or key.startswith('$class') or key == '$archiver')
    walk(tree, False)
    known += b'\n'.join(names) + b'\n'
    return leaves


def row_counts(db):
    """Of all tables but virtual ones and those that these keep their rows in."""
    names = [t.decode() for (t,) in db.execute(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY 1").fetchall()]
    return [(t, db.execute('SELECT count(*) FROM "%s"' % t.replace('"', '""')).fetchone()[0]) for t in names]


with tempfile.TemporaryDirectory() as folder:
    copy = os.path.join(folder, 'store')
    for suffix in ('', '-wal'):
        if os.path.exists(original + suffix): shutil.copy(original + suffix, copy + suffix)
    db = sqlite3.connect(copy)
    db.text_factory = bytes
    texts = set()
    for name, sql in db.execute('SELECT name, sql FROM sqlite_master'):
        known += name + b'\n' + (sql or b'') + b'\n'
    for table, sql in db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall():
        table = table.decode()
        if (sql or b'').startswith(b'CREATE VIRTUAL'): continue
        for row in db.execute('SELECT * FROM "%s"' % table.replace('"', '""')):
            for value in row:
                if not isinstance(value, bytes): continue
                if table == 'Z_METADATA' or table == 'Z_PRIMARYKEY':
                    if len(value) != 36: known += value + b'\n'
                    else: texts.add(value)
                elif table == 'Z_MODELCACHE':
                    try: known += zlib.decompress(value, -15)
                    except zlib.error: pass
                else:
                    leaves = listed(value)
                    if leaves is None:
                        # Runs of characters in blobs, as strings(1) finds them.
                        leaves = [value] + re.findall(rb'[ -~]{6,}', value)
                    for text in leaves:
                        try:
                            if text.decode().isprintable() and len(text) >= 4: texts.add(text)
                        except UnicodeDecodeError: pass
    counts = row_counts(db)
    db.close()
data = open(fixture, 'rb').read()
stem = os.path.join(os.path.dirname(fixture), '.' + os.path.splitext(os.path.basename(fixture))[0] + '_SUPPORT')
for root, _, files in os.walk(stem):
    for file in files: data += file.encode() + open(os.path.join(root, file), 'rb').read()
found = [t for t in texts if len(t) >= 4 and t in data and t not in known and re.search(rb'[^\W_]', t)]
f = sqlite3.connect('file:%s?mode=ro' % fixture, uri=True)
f.text_factory = bytes
new = row_counts(f)
ok = f.execute('PRAGMA integrity_check').fetchone()[0].decode()
print(len(texts), 'texts,', len(found), 'found', 'counts', 'equal' if counts == new else 'DIFFER', ok)
for t in sorted(found)[:40]: print('   ', t)
sys.exit(1 if len(found) > allowed or any(len(t) > 11 for t in found) or counts != new or ok != 'ok' else 0)
