
# ---- probes
fresh() {
    if [ -d "$T/events/$1" ]; then
        die "probes of the group $1 are there already: another capture runs, or was killed. If it was, remove them:
    for p in \$(ls $T/events/$1 | grep -vx -e enable -e filter); do echo \"-:$1/\$p\" >> $T/dynamic_events; done"
    fi
}
@GROUPS@
: >"$D/probes.txt"
: >"$D/skipped.txt"
while read -r need file definition; do
    [ -n "$need" ] || continue
    event=${definition%% *}
    event=${event#*:}
    if add "$T/$file" "$definition"; then
        printf '%s\n' "$definition" >>"$D/probes.txt"
        case "
$defined" in
            *"
$file $event
"*) ;;
            *)
                defined="$file $event
$defined"
                ;;
        esac
    elif [ "$need" = required ]; then
        [ -r "$T/error_log" ] && tail -n 4 "$T/error_log" >&2
        die "the kernel refused a probe: $definition"
    else
        printf '%s\n' "$definition" >>"$D/skipped.txt"
    fi
done <<'PROBES'
@PROBES@
PROBES
