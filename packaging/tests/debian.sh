#!/bin/bash
# Runs on a freshly booted systemd, with two versions of the package in this folder: installs, learns, upgrades, purges.
set -euo pipefail
cd "$(dirname "$0")"
export DEBIAN_FRONTEND=noninteractive

fail() {
    echo "FAILED: $*"
    systemctl --no-pager status skipstream || true
    journalctl --no-pager --unit skipstream --lines 20 || true
    exit 1
}
service=http://127.0.0.1:8321
count() { curl --silent --fail --max-time 10 "$service/v1/words/$1" | grep -o '"count":[0-9]*' | cut -d: -f2; }

# The images of containers forbid services to start.
rm --force /usr/sbin/policy-rc.d

echo "== install"
dpkg --install old.deb
systemctl is-enabled skipstream
systemctl is-active skipstream || fail "the service is not active after the installation"
# Some systems leave out manuals when they install, so the package itself is asked.
dpkg --contents old.deb >contents.txt
for file in man/man1/skipstream-train.1 bash-completion/completions/skipstream \
    zsh/vendor-completions/_skipstream fish/vendor_completions.d/skipstream.fish; do
    grep --quiet "/usr/share/$file" contents.txt || fail "$file is missing"
done
systemd-analyze verify skipstream.service
systemd-analyze security --threshold=20 skipstream.service >security.txt || fail "the unit is not hardened: $(tail -1 security.txt)"
tail -1 security.txt
[ "$(stat --format=%U "/proc/$(systemctl show --property MainPID --value skipstream)")" = skipstream ] || fail "it is not its own user"

echo "== learn"
for _ in $(seq 200); do
    echo "Tea with milk. Coffee with sugar! Tea with sugar, coffee with milk."
done | curl --silent --fail --max-time 60 --upload-file - "$service/v1/text?wait=learned" >/dev/null || fail "text is refused"
[ "$(count tea)" = 400 ] || fail "tea has $(count tea) occurrences instead of 400"

echo "== the watchdog is fed, and a crash is survived"
systemctl kill --signal KILL skipstream
for _ in $(seq 60); do sleep 0.5; [ "$(count tea || true)" = 400 ] && break; done
[ "$(count tea)" = 400 ] || fail "words are lost by a crash"
[ "$(systemctl show --property NRestarts --value skipstream)" -ge 1 ] || fail "it was not restarted by systemd"
[ "$(systemctl show --property WatchdogTimestampMonotonic --value skipstream)" -gt 0 ] || fail "the watchdog is not fed"

echo "== upgrade"
echo 'log_format = "text" # by the administrator' >>/etc/skipstream/serve.toml
dpkg --install --force-confold new.deb
systemctl is-active skipstream || fail "the service is not active after the upgrade"
grep --quiet 'by the administrator' /etc/skipstream/serve.toml || fail "the settings were overwritten"
journalctl --unit skipstream --output cat >journal.txt
grep --quiet ' INFO .*listening on' journal.txt || fail "the service was not restarted with the settings"
[ "$(count tea)" = 400 ] || fail "words are lost by the upgrade"
curl --silent --fail "$service/v1/words/tea/neighbors?n=2" | grep --quiet coffee || fail "no neighbors after the upgrade"

echo "== remove and purge"
dpkg --remove skipstream
! systemctl is-active --quiet skipstream || fail "the service runs after it was removed"
[ -e /etc/skipstream/serve.toml ] || fail "the settings went before the purge"
dpkg --purge skipstream
[ ! -e /etc/skipstream/serve.toml ] && [ ! -e /usr/bin/skipstream ] || fail "files are left after the purge"
[ -e /var/lib/skipstream/model.safetensors ] || ls -R /var/lib/skipstream/ | head
[ -n "$(ls /var/lib/skipstream/)" ] || fail "the model is lost"
echo "PASSED"
