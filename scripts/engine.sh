#!/bin/sh
# A container engine for the tests, where none answers and we are root.
#   scripts/engine.sh run COMMAND…   with an engine that is stopped when the command ends
#   scripts/engine.sh start          prints what to `eval`: export DOCKER_HOST=…
#   scripts/engine.sh stop           stops what `start` started, and nothing else
# Installs Debian's packages as far as they exist. The engine has a socket and folders of its
# own (ENGINE_DIR) and touches neither /etc nor the host's network. What can't be had is named,
# and the tests that need it say so when they skip.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
venv=${VENV:-.venv}
case $venv in /*) ;; *) venv=$here/$venv ;; esac
dir=${ENGINE_DIR:-/var/lib/answerkey-engine}
socket=$dir/docker.sock
pidfile=$dir/docker.pid
log=$dir/dockerd.log
start_s=60

say() { echo "engine: $*" >&2; }

answers() {
    "$venv/bin/python" -c 'import docker; docker.from_env(timeout=10).ping()' 2>/dev/null
}

# Programs that the tests want, and the packages that bring them; TEST_TOOLS adds to them.
wanted="dockerd=docker.io crun=crun runsc=runsc debootstrap=debootstrap
        gcc=gcc g++=g++ node=nodejs ${TEST_TOOLS:-}"

# Where boxes look, too: a tool chain in somebody's home is none of theirs.
has() { (PATH=/usr/sbin:/usr/bin:/sbin:/bin && command -v "$1" >/dev/null); }

install() {
    missing=
    for pair in $wanted; do
        has "${pair%%=*}" || missing="$missing ${pair#*=}"
    done
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null || { say "no apt-get to install$missing"; return 0; }
    say "installing$missing"
    apt-get update -q >&2 || say "the package lists can't be updated"
    known=
    for package in $missing; do
        if apt-cache show "$package" >/dev/null 2>&1; then known="$known $package"
        else say "there is no package $package here"; fi
    done
    [ -n "$known" ] || return 0
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends $known >&2 ||
        say "could not install$known"
}

# crun refuses hosts where a controller is left to cgroup v2 while others are at v1.
mount_left_controllers() {
    left=/sys/fs/cgroup/unified/cgroup.controllers
    [ -r "$left" ] || return 0
    for controller in $(cat "$left"); do
        at=/sys/fs/cgroup/$controller
        mkdir -p "$at" && mount -t cgroup -o "$controller" cgroup "$at" 2>/dev/null &&
            echo "$at" >>"$dir/mounted" || say "$controller is left to cgroup v2: no crun"
    done
}

configure() {
    runtimes=
    crun=$(command -v crun) && runtimes="\"crun\": {\"path\": \"$crun\"}"
    # Its own network stack needs no host's, which older ones refuse to do without.
    runsc=$(command -v runsc) && runtimes="${runtimes:+$runtimes, }\"runsc\":
        {\"path\": \"$runsc\", \"runtimeArgs\": [\"--network=none\"]}"
    echo "{\"runtimes\": {$runtimes}}" >"$dir/daemon.json"
}

start() {
    if answers; then
        say "one answers already"
        return 0
    fi
    if [ "$(uname -s)" != Linux ] || [ "$(id -u)" != 0 ]; then
        say "none answers, and only root on Linux can start one"
        return 0
    fi
    install
    command -v dockerd >/dev/null || { say "no dockerd"; return 0; }
    mkdir -p "$dir"
    mount_left_controllers
    configure
    # Boxes have no network and builds take the host's, so none is set up. In a session of its
    # own it outlives a Ctrl-C, and is stopped when the command has ended.
    setsid dockerd --config-file "$dir/daemon.json" --host "unix://$socket" --pidfile "$pidfile" \
        --data-root "$dir/data" --exec-root "$dir/exec" \
        --bridge=none --iptables=false --ip-forward=false --ip-masq=false \
        >"$log" 2>&1 </dev/null &
    started=$!
    export DOCKER_HOST="unix://$socket"
    waited=0
    until answers; do
        if ! kill -0 "$started" 2>/dev/null || [ "$waited" -ge "$start_s" ]; then
            say "dockerd does not come up: $(tail -n 3 "$log")"
            unset DOCKER_HOST
            stop
            return 0
        fi
        waited=$((waited + 1))
        sleep 1
    done
    say "started at $DOCKER_HOST"
    echo "export DOCKER_HOST=$DOCKER_HOST"
}

build_image() {
    "$venv/bin/verifier-server" sandbox build python --from host --export --if-needed >&2 ||
        say "the image for tests can't be made"
}

stop() {
    if [ -r "$pidfile" ] && pid=$(cat "$pidfile") &&
        [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = dockerd ] && kill "$pid"; then
        waited=0
        while kill -0 "$pid" 2>/dev/null && [ "$waited" -lt "$start_s" ]; do
            waited=$((waited + 1))
            sleep 1
        done
        kill -KILL "$pid" 2>/dev/null || true
        umount "$dir"/exec/netns/* 2>/dev/null || true  # what dockerd itself leaves mounted
        say "stopped"
    fi
    if [ -r "$dir/mounted" ]; then
        while read -r at; do
            umount "$at" && rmdir "$at" || true
        done <"$dir/mounted"
        rm "$dir/mounted"
    fi
}

case ${1:-} in
start) start && build_image ;;
stop) stop ;;
run)
    shift
    trap stop EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    start >/dev/null
    build_image
    "$@"
    ;;
*)
    sed -n '2,5s/^# *//p' "$0" >&2
    exit 2
    ;;
esac
