#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# fake_engine.sh MODE [FILE] - a UCI engine with one fault, or none.
#
# It knows no chess: it plays the first of the moves to search, else e2e4, and a move is worth the
# number of its letters' codes modulo 100. FILE: each start adds a line to it, each go another; modes
# ending in _once are at fault only at the first start.
mode=$1
file=${2-/dev/null}

starts=$(grep -c start "$file")
echo start >>"$file"
case $mode in
*_once) if [ "$starts" -eq 0 ]; then mode=${mode%_once}; else mode=good; fi ;;
esac

hang() {
    while :; do sleep 60; done
}

hello() {
    case $mode in
    silent) hang ;;
    stderr_only)
        while :; do
            echo "I am here" >&2
            sleep 0.01
        done
        ;;
    flood) yes "info string na na na na na na na na na na na na na na na na na na na na" ;;
    exit_at_uci)
        echo "no licence" >&2
        exit 3
        ;;
    esac
    cat <<END
Fake 1 by nobody
id name Fake 1
id author Nobody
option name Hash type spin default 16 min 1 max 1024
option name Threads type spin default 1 min 1 max 8
option name Skill Level type spin default 20 min 0 max 20
option name MultiPV type spin default 1 min 1 max 500
uciok
END
}

worth() { # of a move
    rest=$1
    sum=0
    while [ -n "$rest" ]; do
        sum=$((sum + $(printf %d "'$rest")))
        rest=${rest#?}
    done
    echo $((sum % 100))
}

search() { # the words of `go`
    echo go >>"$file"
    depth=9 best=e2e4
    while [ $# -gt 0 ]; do
        case $1 in
        depth) depth=$2 ;;
        searchmoves) best=$2 ;;
        esac
        shift
    done
    info="info depth $depth seldepth $depth score cp $(worth $best) nodes 100000 pv $best"
    case $mode in
    exit_at_go)
        echo "info string ERROR: The network file x.nnue was not loaded."
        echo "info string ERROR: The engine will be terminated now."
        exit 1
        ;;
    die_at_go) kill -SEGV $$ ;;
    hang_at_go) hang ;;
    slow) # answers when it is stopped
        while read -r line && [ "$line" != stop ]; do :; done ;;
    garbage)
        printf '\377\376garbage\n%0200000d\ninfo depth score cp\nbest\n' 0 ;;
    stderr) yes "warning: wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww" | head -20000 >&2 ;;
    shallow) info="info depth 1 score cp 5 pv e2e4" ;;
    illegal) best=e2e5 ;;
    none) best="(none)" ;;
    zero) best=0000 ;;
    esac
    [ "$mode" = no_score ] || echo "$info"
    echo "bestmove $best"
}

while read -r line; do
    case $line in
    uci) hello ;;
    isready) [ "$mode" = no_readyok ] || echo readyok ;;
    # shellcheck disable=SC2086 # its words are wanted
    go*) search $line ;;
    quit)
        echo quit >>"$file"
        exit 0
        ;;
    esac
done
