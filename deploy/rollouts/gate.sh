#!/bin/sh
# Decides a rollout by the verdict of a running monitor: promote, hold or roll back.
#
#   gate.sh MODEL STABLE CANARY
#
# MONITOR_URL is the exporter's address. PROMOTE and ROLL_BACK are shell commands. It looks every
# EVERY seconds (60), LOOKS times at most (4320: three days), and prints what decided. It goes on after
# an error, as a version that has not predicted yet is unknown to the monitor, and prints each once.
# Exit code: 0 promoted, 1 rolled back, 2 wrong arguments, 3 held: nothing was shown, or the monitor
# did not answer; 4 PROMOTE or ROLL_BACK failed.
set -u

if [ $# -ne 3 ]; then
  echo "usage: gate.sh MODEL STABLE CANARY (the model, the version that decides and the new one)" >&2
  exit 2
fi
model=$1 stable=$2 canary=$3
comma() { printf '%s' "$1" | sed 's/[,\\]/\\&/g'; } # of a name, as --versions takes it
compare() {
  ${PRECISION_MONITOR:-precision-monitor} compare --url "${MONITOR_URL:-http://127.0.0.1:9108}" \
    --model="$model" --versions="$(comma "$stable"),$(comma "$canary")" "$@"
}

looks=${LOOKS:-4320} error=
case $looks in
  *[!0-9]* | 0*)
    echo "gate.sh: LOOKS: must be an integer from 1 on, got '$looks'" >&2
    exit 2
    ;;
esac
while [ "$looks" -gt 0 ]; do
  looks=$((looks - 1))
  said=$(compare --fail-on worse 2>&1)
  code=$?
  case $(printf '%s' "$said" | tr -s '[:space:]' ' ') in # long names wrap the sentence
    *' is worse than '*) ;;
    *) [ $code -ne 1 ] || code=70 ;; # a crash has that exit code, too
  esac
  case $code in
    1)
      printf '%s\n' "$said"
      sh -c "${ROLL_BACK:-true}" || exit 4
      exit 1
      ;;
    0)
      error=
      if said=$(compare --fail-on worse --fail-on not_shown 2>&1); then
        printf '%s\n' "$said"
        sh -c "${PROMOTE:-true}" || exit 4
        exit 0
      fi
      ;;
    *)
      known=$error error=$(printf '%s' "$said" | tr -d '0-9,') # without the counts that grow
      [ "$known" = "$error" ] || printf '%s\n' "$said" >&2
      ;;
  esac
  [ "$looks" -eq 0 ] || sleep "${EVERY:-60}"
done
[ -n "$error" ] || printf '%s\n' "$said"
exit 3
