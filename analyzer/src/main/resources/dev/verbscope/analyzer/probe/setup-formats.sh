
# ---- what the events are made of
formats() { # copies the format files of a system
    for format in "$T/events/$1"/*/format; do
        if [ -f "$format" ]; then
            event=${format%/format}
            event=${event##*/}
            mkdir -p "$D/events/$1/$event"
            cat "$format" >"$D/events/$1/$event/format"
        fi
    done
}
systems=
for system in @SYSTEMS@; do
    if [ -d "$T/events/$system" ]; then
        systems="$systems $system"
        formats "$system"
    fi
done
mkdir -p "$D/events"
for file in header_page header_event; do
    if [ -f "$T/events/$file" ]; then cat "$T/events/$file" >"$D/events/$file"; fi
done
save kprobe_profile.before cat "$T/kprobe_profile"
