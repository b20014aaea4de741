# Settings from the environment: SECONDS_TO_RECORD, MEGABYTES, OUT (the bundle), TMPDIR, TRACEFS (if not mounted in the
# usual place), SYSROOT (in front of /proc and /sys).
set -u
umask 077
LC_ALL=C
export LC_ALL

seconds=${1:-${SECONDS_TO_RECORD:-@SECONDS@}}
megabytes=${MEGABYTES:-@MEGABYTES@}
root=${SYSROOT:-}
T=${TRACEFS:-}
tool='@TOOL@'
driver='@DRIVER@'
instance=verbscope
stamp=$(date -u +%Y%m%dT%H%M%SZ)
name=verbscope-$driver-$stamp
OUT=${OUT:-$PWD/$name.tar.gz}

work=
child=
sleeper=
gentle=
made_instance=
defined=
stopped=

say() { printf '%s\n' "capture: $*" >&2; }
die() {
    say "$*"
    exit 1
}

# Writes to a file of tracefs; kprobe_events and dynamic_events are added to, since opening them to write clears them.
put() { { printf '%s\n' "$2" >"$1"; } 2>/dev/null; }
add() { { printf '%s\n' "$2" >>"$1"; } 2>/dev/null; }

# Ends the recorder: asks it to finish, which also undoes what it set up, and kills it only if it does not.
finish() { # SECONDS of patience
    patience=$1
    kill -INT "$child" 2>/dev/null
    while kill -0 "$child" 2>/dev/null && [ "$patience" -gt 0 ]; do
        sleep 1
        patience=$((patience - 1))
    done
    kill "$child" 2>/dev/null
    wait "$child" 2>/dev/null
    child=
}

# Undoes everything, in reverse, and tells what it could not undo.
cleanup() {
    trap - EXIT
    trap '' INT TERM HUP
    status=$1
    [ -z "$sleeper" ] || kill "$sleeper" 2>/dev/null
    if [ -n "$child" ]; then
        if [ -n "$gentle" ]; then
            finish 10
        else
            kill "$child" 2>/dev/null
            wait "$child" 2>/dev/null
            child=
        fi
    fi
    if [ -n "$made_instance" ]; then
        put "$I/tracing_on" 0
        put "$I/events/enable" 0
        rmdir "$I" 2>/dev/null || sleep 1
        if [ -d "$I" ] && ! rmdir "$I" 2>/dev/null; then
            say "could not remove $I"
            [ "$status" -ne 0 ] || status=1
        fi
        made_instance=
    fi
    left=
    # the last one defined is removed first
    while [ -n "$defined" ]; do
        item=${defined%%
*}
        defined=${defined#*
}
        file=${item%% *}
        event=${item#* }
        put "$T/events/$event/enable" 0
        if ! add "$T/$file" "-:$event"; then
            # a recorder that was just stopped may hold it for a moment
            sleep 1
            add "$T/$file" "-:$event" || left="$left $event"
        fi
    done
    if [ -n "$left" ]; then
        say "could not remove the probes$left; remove them with: echo '-:GROUP/EVENT' >> $T/kprobe_events"
        [ "$status" -ne 0 ] || status=1
    fi
    [ -z "$work" ] || rm -rf "$work"
    exit "$status"
}
trap 'cleanup $?' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# ---- what must hold before anything is changed
case $seconds in '' | *[!0-9]*) die "usage: $0 [SECONDS]" ;; esac
case $megabytes in '' | *[!0-9]*) die "MEGABYTES must be a number" ;; esac
if [ -z "$T" ]; then
    [ "$(id -u)" -eq 0 ] || die "run this as root"
    for T in /sys/kernel/tracing /sys/kernel/debug/tracing ''; do
        if [ -n "$T" ] && [ -f "$T/trace" ]; then break; fi
    done
    [ -n "$T" ] || die "tracefs is not mounted; mount it: mount -t tracefs nodev /sys/kernel/tracing"
fi
I=$T/instances/$instance
for command in tar gzip awk date@COMMANDS@; do
    command -v "$command" >/dev/null 2>&1 || die "$command is not installed"
done
if [ -r "$root/sys/kernel/security/lockdown" ] && grep -q '\[confidentiality\]' "$root/sys/kernel/security/lockdown"; then
    die "the kernel is locked down (confidentiality): it does not allow probes"
fi
release=$(uname -r)
@GUARD@
@PRECHECK@
work=${TMPDIR:-/tmp}/verbscope.$$
mkdir "$work" || die "cannot make a folder in ${TMPDIR:-/tmp}"
D=$work/$name
mkdir "$D" || die "cannot make a folder in $work"

# ---- the machine as it is
save() { # NAME COMMAND...: keeps what a command prints; a command that fails or is missing is no reason to stop
    save_name=$1
    shift
    "$@" >"$D/$save_name" 2>/dev/null || :
}
counters() {
    for file in "$root"/sys/class/infiniband/*/ports/*/counters/* "$root"/sys/class/infiniband/*/ports/*/hw_counters/*; do
        if [ -f "$file" ]; then
            value=
            read -r value 2>/dev/null <"$file" || :
            printf '%s %s\n' "${file#"$root"}" "$value"
        fi
    done
}
resources() {
    for kind in qp cq mr pd cm_id srq; do
        printf '# rdma res show %s\n' "$kind"
        rdma -d res show "$kind" 2>/dev/null || :
    done
}
printf '%s\n' '@MADE@' "tool: $tool" "driver: $driver" "release: $release" "seconds: $seconds" >"$D/capture.txt"
save uname.txt uname -srvm
save modules.txt cat "$root/proc/modules"
resources >"$D/rdma.txt" 2>/dev/null
counters >"$D/counters.before" 2>/dev/null
save config.txt grep -E '^CONFIG_(KPROBE_EVENTS|KPROBES|FPROBE|FPROBE_EVENTS|PROBE_EVENTS_BTF_ARGS|DEBUG_INFO_BTF|DEBUG_INFO_BTF_MODULES|FTRACE|INFINIBAND)=' "/boot/config-$release"
save clocksource.txt cat "$root/sys/devices/system/clocksource/clocksource0/current_clocksource"
@SETUP@
counters >"$D/counters.after" 2>/dev/null
resources >"$D/rdma.after.txt" 2>/dev/null
if [ -d "$T/per_cpu" ] && [ "$tool" = trace-cmd ]; then
    for stats in "$T"/per_cpu/cpu*/stats; do
        if [ -f "$stats" ]; then
            cpu=${stats%/stats}
            save "stats-${cpu##*/}.txt" cat "$stats"
        fi
    done
fi
dmesg 2>/dev/null | grep -iE 'infiniband|rdma|mlx|rxe|siw|bnxt|irdma|hns|nvme|iser|srp|kprobe|fprobe' | tail -n 500 >"$D/dmesg.txt" || :

[ -s "$D/@FILE@" ] || die "nothing was recorded"
# not by a pipe, which would hide that tar failed
tar -cf "$work/bundle.tar" -C "$work" "$name" || die "cannot pack the bundle: is the disk full?"
gzip "$work/bundle.tar" || die "cannot pack the bundle: is the disk full?"
cp "$work/bundle.tar.gz" "$OUT" || die "cannot write $OUT"
[ -n "$stopped" ] && say "stopped early"
say "wrote $OUT"
say "read it with: verbscope analyze $OUT"
cleanup 0
