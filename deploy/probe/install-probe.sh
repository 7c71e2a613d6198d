#!/bin/sh
# Installs or updates a Picket probe as a systemd service, after verifying checksums.
#
#   FLEET_URL=fleet.picket.example.com:443 PROBE_TOKEN=prb_… sh install-probe.sh --from https://example.com/picket/0.1.0
#
# --from    the folder that `npm run build:probe` filled: a URL or a path (default: the folder of this script)
# --sha256  the checksum of the executable from a trusted source. With it, the unit must be the one that this script was
#           released with. Then the folder need not be trusted, if this script itself is from a trusted source.
# DESTDIR   installs below this folder and starts nothing, for packaging
#
# FLEET_URL, FLEET_TLS (default on) and PROBE_TOKEN are written to /etc/picket/probe.env on the first installation only. A
# machine that has this file keeps its settings and its place in the fleet. Where the kernel lets no group send pings, as on
# Debian 12, /etc/sysctl.d/60-picket-probe.conf allows them.
set -eu

fail() {
  echo "install-probe: $1" >&2
  exit 1
}

from=$(dirname "$0")
sha256=''
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || fail "$1 needs a value"
  case $1 in
    --from) from=$2 ;;
    --sha256) sha256=$2 ;;
    *) fail "unknown option: $1" ;;
  esac
  shift 2
done

destdir=${DESTDIR:-}
settings=$destdir/etc/picket/probe.env
[ -n "$destdir" ] || [ "$(id -u)" -eq 0 ] || fail 'installing a service requires root; run it with sudo'
[ -n "$destdir" ] || [ -d /run/systemd/system ] || fail 'systemd is not running on this machine'
[ "$(uname -s)" = Linux ] || fail 'the executable runs on Linux only'
case $(uname -m) in
  x86_64 | amd64) platform=linux-x64 ;;
  aarch64 | arm64) platform=linux-arm64 ;;
  *) fail "no executable is available for $(uname -m)" ;;
esac
if [ ! -e "$settings" ] && { [ -z "${FLEET_URL:-}" ] || [ -z "${PROBE_TOKEN:-}" ]; }; then
  fail 'set FLEET_URL and PROBE_TOKEN: npm run admin -- probe-token create --region <region>'
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

fetch() {
  case $from in
    https://*) curl --proto '=https' --proto-redir '=https' --fail --silent --show-error --location --output "$work/$1" "$from/$1" ;;
    http://*) curl --fail --silent --show-error --location --output "$work/$1" "$from/$1" ;;
    *) cp "$from/$1" "$work/$1" ;;
  esac || fail "cannot read $from/$1"
}

executable=picket-probe-$platform
unit=picket-probe.service
# The checksum of the unit of the same release. A unit chooses what root runs, so with --sha256 no other one is installed.
unit_sha256=ae8561e9104a3e5aea764d0621386cda61c38787a82252f4272d84046a12b470
for name in SHA256SUMS "$executable" "$unit"; do fetch "$name"; done

# Files that SHA256SUMS does not list are refused as well.
verify() {
  expected=$(awk -v name="$1" '$2 == name { print $1 }' "$work/SHA256SUMS")
  actual=$(sha256sum "$work/$1" | cut -d ' ' -f 1)
  [ -n "$expected" ] || fail "SHA256SUMS does not list $1; nothing was installed"
  [ "$expected" = "$actual" ] || fail "$1 does not match SHA256SUMS; nothing was installed"
}
verify "$unit"
[ -z "$sha256" ] || [ "$unit_sha256" = "$actual" ] ||
  fail "with --sha256, $unit must be of the same release as this script, and it is not; nothing was installed"
verify "$executable"
[ -z "$sha256" ] || [ "$sha256" = "$actual" ] || fail "$executable does not match --sha256; nothing was installed"

mkdir -p "$destdir/usr/local/bin" "$destdir/etc/systemd/system" "$destdir/etc/picket"
new=$destdir/usr/local/bin/.picket-probe.new
install -m 0755 "$work/$executable" "$new"
# For example, the machine that built it has a newer C library.
version=$("$new" --version) || {
  rm -f "$new"
  fail "the new $executable does not run on this machine; nothing was installed"
}
# Renamed into place, so that a running probe keeps the file that it was started from.
mv -f "$new" "$destdir/usr/local/bin/picket-probe"
install -m 0644 "$work/$unit" "$destdir/etc/systemd/system/$unit"
if [ -e "$settings" ]; then
  if [ -n "${PROBE_TOKEN:-}" ] && ! grep -qxF "PROBE_TOKEN=$PROBE_TOKEN" "$settings"; then
    echo "install-probe: $settings exists, so the new FLEET_URL and PROBE_TOKEN are not used; to enrol this machine again, stop picket-probe, delete $settings and /var/lib/picket-probe, and run the command again" >&2
  fi
else
  (
    umask 077
    printf 'FLEET_URL=%s\nFLEET_TLS=%s\nPROBE_TOKEN=%s\n' "$FLEET_URL" "${FLEET_TLS:-on}" "$PROBE_TOKEN" >"$settings"
  )
fi

# "1 0", the kernel's default, lets no group send pings. Another value was chosen for this machine and is kept.
groups=/proc/sys/net/ipv4/ping_group_range
if [ -n "$destdir" ] || [ "$(tr '\t' ' ' <$groups)" = '1 0' ]; then
  mkdir -p "$destdir/etc/sysctl.d"
  echo 'net.ipv4.ping_group_range = 0 2147483647' >"$destdir/etc/sysctl.d/60-picket-probe.conf"
  [ -n "$destdir" ] || (echo '0 2147483647' >$groups) ||
    echo "install-probe: the kernel refuses net.ipv4.ping_group_range; this probe does everything but pings" >&2
fi

if [ -n "$destdir" ]; then
  echo "picket-probe $version is installed below $destdir"
  exit 0
fi
systemctl daemon-reload
systemctl enable --quiet picket-probe
systemctl restart picket-probe
# A wrong setting ends the probe at once.
sleep 2
systemctl is-active --quiet picket-probe ||
  fail "picket-probe $version is installed but does not run; see its log with: journalctl -u picket-probe"
echo "picket-probe $version is running; see its log with: journalctl -u picket-probe -f"
