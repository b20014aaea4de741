
# ---- record with @TOOL@
set --
for system in $systems; do
    set -- "$@" -e "@EVENT@"
done
say "recording for $seconds s; Ctrl-C ends it early and keeps what there is"
trap 'stopped=yes' INT
@COMMAND@ >"$D/record.log" 2>&1 &
child=$!
gentle=yes
sleep "$seconds" &
sleeper=$!
# whichever ends first: the time, or a recorder that cannot record
while kill -0 "$sleeper" 2>/dev/null && kill -0 "$child" 2>/dev/null && [ -z "$stopped" ]; do
    sleep 1
done
kill "$sleeper" 2>/dev/null
sleeper=
finish 60
trap 'exit 130' INT
save kprobe_profile.after cat "$T/kprobe_profile"
save trace_clock.txt echo mono
if ! [ -s "$D/@FILE@" ]; then
    tail -n 20 "$D/record.log" >&2
    die "@TOOL@ recorded nothing"
fi
