#!/bin/sh
# Installs Moult below a prefix, /usr/local by default, or removes it from there.
#
#   ./install.sh [PREFIX]
#   ./install.sh --remove [PREFIX]
set -eu
case ${1:-} in
-h | --help) sed -n '2,5s/^# \{0,1\}//p' "$0" && exit 0 ;;
esac
remove=
if [ "${1:-}" = --remove ]; then remove=1 && shift; fi
prefix=${1:-/usr/local}
cd "$(dirname "$0")"
find bin lib share -type f 2>/dev/null | sort | while read -r file; do
    if [ -n "$remove" ]; then
        rm -f "$prefix/$file"
        # Folders that others use too are not empty.
        rmdir -p "$prefix/$(dirname "$file")" 2>/dev/null || true
    else
        mkdir -p "$prefix/$(dirname "$file")"
        cp -p "$file" "$prefix/$file.new"
        mv -f "$prefix/$file.new" "$prefix/$file"
    fi
done
if [ -n "$remove" ]; then echo "Removed Moult from $prefix."; else echo "Installed $("$prefix/bin/moult" --version) in $prefix."; fi
