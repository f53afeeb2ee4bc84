#!/bin/bash
# A real Swarm of N nodes on one Linux machine, apart from the machine's own Docker engine.
#
#   cluster.sh up [NODES=3] [MANAGERS=NODES]   idempotent; prints the sockets. 0 managers: engines without a swarm. cluster.sh down | status | reset
#   cluster.sh node-kill N | node-disconnect N | node-reconnect N | node-start N | load IMAGE [N] (of the machine's engine, onto node N or 1)
#
# How: one network namespace for the "switch" (bridge + registry + test clients), one per node (eth0 = veth on that bridge).
# Per node a containerd and a dockerd of its own: own data root, exec root, pid file, unix socket, cgroup parent.
# Nothing touches the default engine, the default netns' iptables, or /var/lib/docker.
# `nsenter --net` and NOT `ip netns exec`: the latter remounts /sys and hides the cgroup mounts from dockerd.
# Needs: root, Debian docker.io (dockerd, containerd, runc), iproute2, iptables, curl. Kernel: veth, bridge, vxlan (overlay networks).
# ip_vs is optional: without it there are no VIPs and no routing mesh; `endpoint_mode dnsrr`, task addresses and
# `mode=host` ports work all the same (that is what the driver should use anyway).
set -u
BASE=${SWARM_TEST_BASE:-${TMPDIR:-/tmp}/homeport-swarm}
P=${SWARM_TEST_PREFIX:-hpsw}            # prefix of namespaces and interfaces (short: 15 characters for an interface)
NET=${SWARM_TEST_NET:-10.99.0}          # the "LAN"; .1 switch (registry, clients), .254 the machine itself, .10N node N
POOL=${SWARM_TEST_POOL:-10.100.0.0/16}  # default-addr-pool of overlays
REG_BIN=${SWARM_TEST_REGISTRY:-$(command -v docker-registry || true)}   # Debian package docker-registry; its service is not needed
TINY=${SWARM_TEST_IMAGE:-}   # optional: tar of a root file system with a server in it, pushed as tiny:1
mkdir -p "$BASE"
ms() { date +%s%3N; }
say() { echo "[$(( $(ms) - T0 )) ms] $*"; }
in_ns() { local ns=$1; shift; nsenter --net=/run/netns/$ns "$@"; }
sock() { echo "$BASE/n$1/docker.sock"; }
d() { local n=$1; shift; docker -H "unix://$(sock "$n")" "$@"; }
# spawn NETNS LOG PIDFILE COMMAND…: in the background, without our pipes; the pid is that of the command itself (nsenter and setsid exec)
spawn() { local ns=$1 log=$2 pid=$3; shift 3; ( exec nsenter --net=/run/netns/$ns setsid "$@" ) >"$log" 2>&1 </dev/null & echo $! > "$pid"; }
# a pid file outlives its process, and its number can be anybody's by then: only a process that names the folder of the file is ours
alive() { [ -s "$1" ] && grep -qsaF "${1%/*}/" "/proc/$(cat "$1")/cmdline"; }
stop() { alive "$2" && kill "$1" "$(cat "$2")" 2>/dev/null; rm -f "$2"; }
wait_for() { local i; for i in $(seq 1 300); do eval "$1" >/dev/null 2>&1 && return 0; sleep 0.05; done; echo "not in time: $1" >&2; return 1; }

lan_up() {
  [ -e /run/netns/$P-lan ] && return
  ip netns add $P-lan
  in_ns $P-lan ip link set lo up
  in_ns $P-lan ip link add br0 type bridge
  in_ns $P-lan ip addr add $NET.1/24 dev br0
  in_ns $P-lan ip link set br0 up
  in_ns $P-lan sysctl -qw net.bridge.bridge-nf-call-iptables=0 2>/dev/null
  # one leg in the machine's own namespace, so that tests (vitest, homeport) reach nodes without nsenter
  ip link add $P-host type veth peer name host netns $P-lan
  in_ns $P-lan ip link set host master br0 up
  ip addr add $NET.254/24 dev $P-host; ip link set $P-host up
}
node_net() {
  local n=$1 ns=$P-n$1
  [ -e /run/netns/$ns ] && return
  ip netns add $ns
  in_ns $ns ip link set lo up
  in_ns $P-lan ip link add v$n type veth peer name eth0 netns $ns
  in_ns $P-lan ip link set v$n master br0 up
  in_ns $ns ip addr add $NET.10$n/24 dev eth0
  in_ns $ns ip link set eth0 up
  in_ns $ns ip route add default via $NET.1
  # The second one as in the help page cluster; Linux before 5.14 does not have it.
  in_ns $ns sysctl -qw net.ipv4.ip_forward=1
  in_ns $ns sysctl -qw net.ipv4.tcp_migrate_req=1 2>/dev/null || true
}
registry_up() {
  [ -x "$REG_BIN" ] || return 0
  alive $BASE/registry.pid && return
  mkdir -p $BASE/registry
  cat > $BASE/registry.yml <<YML
version: 0.1
log: { level: error }
storage: { filesystem: { rootdirectory: $BASE/registry }, delete: { enabled: true } }
http: { addr: "$NET.1:5000" }
YML
  spawn $P-lan $BASE/registry.log $BASE/registry.pid "$REG_BIN" serve $BASE/registry.yml
  wait_for "in_ns $P-lan curl -sf http://$NET.1:5000/v2/"
}
node_start() {
  local n=$1 dir=$BASE/n$1 ns=$P-n$1
  mkdir -p $dir/containerd $dir/data $dir/exec
  if ! alive $dir/containerd.pid; then
    rm -f $dir/containerd/containerd.sock
    cat > $dir/containerd.toml <<TOML
version = 2
root = "$dir/containerd/root"
state = "$dir/containerd/state"
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.aufs"]
[grpc]
  address = "$dir/containerd/containerd.sock"
TOML
    spawn $ns $dir/containerd.log $dir/containerd.pid containerd --config $dir/containerd.toml --log-level warn
    wait_for "[ -S $dir/containerd/containerd.sock ]"
  fi
  if ! alive $dir/dockerd.pid; then
    rm -f $dir/dockerd.pid $dir/docker.sock; echo '{ "no-new-privileges": true, "userland-proxy": false }' > $dir/daemon.json
    # own UTS namespace: swarm's node name is the host name. dockerd writes its pid file itself.
    spawn $ns $dir/dockerd.log /dev/null unshare --uts sh -c "hostname $P-n$n; exec dockerd --config-file $dir/daemon.json --data-root $dir/data --exec-root $dir/exec --pidfile $dir/dockerd.pid \
      --host unix://$dir/docker.sock --containerd $dir/containerd/containerd.sock --containerd-namespace moby --containerd-plugins-namespace plugins.moby \
      --cgroup-parent /$P-n$n --bip 172.31.25$n.1/24 --insecure-registry $NET.1/32 --storage-driver overlay2 \
      --default-address-pool base=172.30.0.0/16,size=24 --log-level info"
  fi
}
# What the help page cluster has an operator do on each node: ports of apps at the private address only, and no way for an app to those of others.
node_shut() {
  local n=$1 ns=$P-n$1
  d $n network inspect docker_gwbridge >/dev/null 2>&1 || d $n network create --subnet 172.29.$n.0/24 -o com.docker.network.bridge.name=docker_gwbridge \
    -o com.docker.network.bridge.enable_icc=false -o com.docker.network.bridge.host_binding_ipv4=$NET.10$n docker_gwbridge >/dev/null
  local rule="DOCKER-USER ! -i eth0 -d $NET.0/24 -m conntrack --ctstate NEW -j REJECT"
  in_ns $ns iptables -C $rule 2>/dev/null || in_ns $ns iptables -I $rule
}
up() {
  local N=${1:-3} M=${2:-${1:-3}} n
  lan_up; registry_up; say "switch and registry"
  for n in $(seq 1 $N); do node_net $n; node_start $n; done
  for n in $(seq 1 $N); do wait_for "d $n version" || return 1; done
  say "$N engines answer"
  [ "$M" -gt 0 ] || return 0   # engines alone
  for n in $(seq 1 $N); do node_shut $n || return 1; done
  if [ "$(d 1 info -f '{{.Swarm.LocalNodeState}}')" != active ]; then
    d 1 swarm init --advertise-addr $NET.101 --default-addr-pool $POOL --default-addr-pool-mask-length 24 --dispatcher-heartbeat ${SWARM_TEST_HEARTBEAT:-5s} >/dev/null || return 1
    say "swarm init"
  fi
  local tm tw; tm=$(d 1 swarm join-token -q manager); tw=$(d 1 swarm join-token -q worker)
  for n in $(seq 2 $N); do
    [ "$(d $n info -f '{{.Swarm.LocalNodeState}}')" = active ] && continue
    d $n swarm join --advertise-addr $NET.10$n --token $([ $n -le $M ] && echo $tm || echo $tw) $NET.101:2377 >/dev/null || return 1
    say "node $n joined"
  done
  if [ -s "$TINY" ] && [ -x "$REG_BIN" ] && ! d 1 image inspect $NET.1:5000/tiny:1 >/dev/null 2>&1; then
    d 1 import --change 'CMD ["/tiny"]' --change 'EXPOSE 8080' "$TINY" $NET.1:5000/tiny:1 >/dev/null && d 1 push -q $NET.1:5000/tiny:1 >/dev/null; say "image $NET.1:5000/tiny:1 is in the registry"
  fi
  wait_for "[ \$(d 1 node ls -q --filter role=manager | wc -l) -ge $M ] && [ \$(d 1 node ls --format '{{.Status}}' | grep -c Ready) -ge $N ]"
  say "ready"
  echo "registry http://$NET.1:5000"; for n in $(seq 1 $N); do echo "node $n $NET.10$n unix://$(sock $n)"; done
}
# SIGKILL for everything that lives in a node's network namespace or cgroup: what a power cut is to the others.
node_kill() {
  local n=$1 dir=$BASE/n$1 p
  ip netns exec $P-lan ip link set v$n down            # first the cable, so that nothing says good-bye
  stop -KILL $dir/dockerd.pid; stop -KILL $dir/containerd.pid
  shims_of $n | xargs -r kill -9 2>/dev/null
  find /sys/fs/cgroup/memory/$P-n$n /sys/fs/cgroup/$P-n$n -name cgroup.procs 2>/dev/null | xargs -r cat 2>/dev/null | sort -u | xargs -r kill -9 2>/dev/null
  # what a pid file does not name (an engine that was still starting)
  grep -lsaF "$dir/containerd" /proc/[0-9]*/cmdline 2>/dev/null | cut -d/ -f3 | while read -r p; do
    case $( { tr "\0" " " < /proc/$p/cmdline; } 2>/dev/null) in *dockerd\ --config-file\ $dir/*|containerd\ --config\ $dir/*) kill -9 $p 2>/dev/null ;; esac; done
}
# shims carry the node's own containerd address as an argument: that alone is ours
shims_of() { grep -lsaF "$BASE/n$1/containerd/containerd.sock" /proc/[0-9]*/cmdline 2>/dev/null | cut -d/ -f3 | while read p; do { tr "\0" " " < /proc/$p/cmdline; } 2>/dev/null | grep -q '^[^ ]*containerd-shim' && echo $p; done; }
down() {
  local dir n ns
  for dir in $BASE/n[0-9]*; do
    [ -d "$dir" ] || continue; n=${dir##*/n}; node_kill $n
    sleep 0.2
    grep " $dir/" /proc/self/mountinfo | awk '{print $5}' | sort -r | xargs -r -n1 umount -l 2>/dev/null
    ip netns del $P-n$n 2>/dev/null
    find /sys/fs/cgroup -depth -type d -path "*/$P-n$n*" -exec rmdir {} + 2>/dev/null
    rm -rf "$dir"
  done
  stop -TERM $BASE/registry.pid
  ip link del $P-host 2>/dev/null; ip netns del $P-lan 2>/dev/null
  rm -rf "$BASE/registry"
}
T0=$(ms)
case ${1:-} in
  up) shift; up "$@" ;;
  down) down; say "gone" ;;
  reset) shift; down; up "$@" ;;
  node-kill) node_kill $2; say "node $2 is dead" ;;
  node-start) ip netns exec $P-lan ip link set v$2 up; node_start $2; wait_for "d $2 version"; node_shut $2; say "node $2 answers" ;;
  node-disconnect) ip netns exec $P-lan ip link set v$2 down ;;
  node-reconnect) ip netns exec $P-lan ip link set v$2 up ;;
  load) docker save "$2" | d "${3:-1}" load >/dev/null; say "$2 is on node ${3:-1}" ;;
  status) d 1 node ls ;;
  *) sed -n 2,6p "$0"; exit 2 ;;
esac
