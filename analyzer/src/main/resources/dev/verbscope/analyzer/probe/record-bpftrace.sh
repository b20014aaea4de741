
# ---- record with bpftrace
cat >"$D/probes.bt" <<'PROGRAM'
@PROBES@
PROGRAM
say "recording for $seconds s; Ctrl-C ends it early and keeps what there is"
trap 'stopped=yes' INT
bpftrace -q -o "$work/lines" "$D/probes.bt" >"$D/record.log" 2>&1 &
child=$!
gentle=yes
sleep "$seconds" &
sleeper=$!
# whichever ends first: the time, the room, or a bpftrace that cannot record
while kill -0 "$sleeper" 2>/dev/null && kill -0 "$child" 2>/dev/null && [ -z "$stopped" ]; do
    sleep 1
    if [ -f "$work/lines" ] && [ "$(wc -c <"$work/lines")" -gt $((megabytes * 1048576)) ]; then
        say "$megabytes MB are full"
        break
    fi
done
kill "$sleeper" 2>/dev/null
sleeper=
finish 60
trap 'exit 130' INT
save kprobe_profile.after cat "$T/kprobe_profile"
save trace_clock.txt echo mono
# each CPU's lines come in order, those of several do not: sort by the time in front, then drop it
grep -E '^[0-9]+ ' "$work/lines" | sort -s -n -k 1,1 | cut -d ' ' -f 2- >"$D/trace.txt"
if ! [ -s "$D/trace.txt" ]; then
    tail -n 20 "$D/record.log" >&2
    die "bpftrace recorded nothing"
fi
