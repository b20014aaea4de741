
# ---- record in a buffer of our own, so that nobody else's tracing is touched
mkdir "$I" || die "cannot make $I: another capture runs, or was killed (then: rmdir $I)"
made_instance=yes
put "$I/tracing_on" 0 || die "cannot stop tracing in $I"
put "$I/trace_clock" mono || die "cannot set the clock"
cpus=$(grep -c '^processor' "$root/proc/cpuinfo" 2>/dev/null) || cpus=1
[ "$cpus" -gt 0 ] || cpus=1
put "$I/buffer_size_kb" $((megabytes * 1024 / cpus + 1)) || die "cannot get a buffer of $megabytes MB"
for system in $systems; do
    put "$I/events/$system/enable" 1 || die "cannot switch on the events of $system"
done
save trace_clock.txt cat "$I/trace_clock"
put "$I/tracing_on" 1 || die "cannot start tracing"
say "recording for $seconds s, at most $megabytes MB; Ctrl-C ends it early and keeps what there is"
trap 'stopped=yes' INT
sleep "$seconds" &
child=$!
wait "$child"
if [ -n "$stopped" ]; then kill "$child" 2>/dev/null; fi
child=
trap 'exit 130' INT
put "$I/tracing_on" 0 || die "cannot stop tracing"
save kprobe_profile.after cat "$T/kprobe_profile"
for stats in "$I"/per_cpu/cpu*/stats; do
    if [ -f "$stats" ]; then
        cpu=${stats%/stats}
        save "stats-${cpu##*/}.txt" cat "$stats"
    fi
done
cat "$I/trace" >"$D/trace.txt" || die "cannot read the trace: is the disk full?"
