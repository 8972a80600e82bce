"""traces.py ORIGINAL COPY: prints texts of the original that are in the fixture's bytes."""
import os, re, shutil, sqlite3, sys, tempfile, zlib
original, fixture = sys.argv[1:3]


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
    texts, known = set(), b''
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
                    try:
                        text = value.decode()
                        if text.isprintable() and len(text) >= 4: texts.add(value)
                    except UnicodeDecodeError: pass
                    # Runs of characters in blobs, as strings(1) finds them.
                    for run in re.findall(rb'[ -~]{6,}', value): texts.add(run)
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
sys.exit(1 if found or counts != new or ok != 'ok' else 0)
