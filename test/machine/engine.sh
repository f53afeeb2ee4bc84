#!/usr/bin/env bash
# Brings a bare Debian machine to what the tests can use: packages, and a Docker engine that answers.
# What can't be had is said in one plain sentence and skipped; the tests name it in their summary.
#
#   test/machine/engine.sh          what `npm test` can use
#   test/machine/engine.sh bench    and the peers and the load generator of the benchmarks
#
# Chromium as root, so that nothing waits for a closed network (a screenshot of a page takes 1 s):
#   chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync
#     --disable-background-networking --disable-component-update --user-data-dir="$(mktemp -d)"
# Its complaints about dbus are harmless. With Playwright: executablePath '/usr/bin/chromium'.
set -euo pipefail

# package:command; with no command, dpkg is asked. An engine or a tool that came by other ways is kept.
packages=(
  docker.io:dockerd docker-registry:docker-registry pebble:pebble iptables:iptables debootstrap:debootstrap
  chromium:chromium chromium-headless-shell:chromium-headless-shell xvfb:Xvfb xauth:xauth fonts-liberation: fonts-noto-color-emoji:
  git:git openssl:openssl libnss3-tools:certutil ca-certificates:update-ca-certificates openssh-server:sshd openssh-client:ssh
  bubblewrap:bwrap procps:ps iproute2:ip curl:curl postgresql-client:pg_dump
)
bench_packages=(nginx:nginx caddy:caddy haproxy:haproxy varnish:varnishd varnish-modules: wrk:wrk)

dockerd_log=${TMPDIR:-/tmp}/homeport-dockerd.log
dockerd_pid= # set when this script started the engine; whoever called may stop it with stop_docker_engine
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

say() { printf '  %s\n' "$*"; }

system_packages() {
  local wanted=() package
  engine_answers && packages=("${packages[@]/#docker.io:*/}")
  for package in "${packages[@]}" "$@"; do
    if [[ -n $package ]] && ! has "$package"; then wanted+=("${package%%:*}"); fi
  done
  ((${#wanted[@]})) || return 0
  command -v apt-get >/dev/null || { say "No apt-get here, so these stay missing: ${wanted[*]}."; return 0; }
  ((EUID == 0)) || { say "Only root can install what is missing: ${wanted[*]}."; return 0; }

  say "Installing ${wanted[*]}."
  apt_install "${wanted[@]}" && return
  if grep -q '^E: Unable to fetch' "$apt_log"; then
    say "Debian's packages can't be reached, so these stay missing: ${wanted[*]}."
    return 0
  fi
  # One that can't be had must not take the others with it.
  for package in "${wanted[@]}"; do
    services_stay_down apt-get install "${apt_options[@]}" "$package" </dev/null >"$apt_log" 2>&1 ||
      say "$package can't be had from Debian's packages: $(grep '^E: ' "$apt_log" | head -n 1)"
  done
}

has() {
  local package=${1%%:*} command=${1#*:}
  if [[ $command ]]; then command -v "$command" >/dev/null
  else [[ $(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null) == ii* ]]; fi
}

apt_log=${TMPDIR:-/tmp}/homeport-apt.log
apt_options=(-y --no-install-recommends -o DPkg::Lock::Timeout=120)
apt_install() {
  local attempt
  for attempt in 1 2 3; do
    apt-get update </dev/null >"$apt_log" 2>&1 || true # old lists may do
    services_stay_down apt-get install "${apt_options[@]}" "$@" </dev/null >>"$apt_log" 2>&1 && return
    # Only a fault of the network may pass, or somebody else who is at the lists.
    grep -q 'Failed to fetch\|Unable to fetch\|Could not get lock' "$apt_log" || return 1
    sleep $((attempt * 2))
  done
  return 1
}

# The packages' own services would take ports 22, 80 and 6081.
services_stay_down() (
  export DEBIAN_FRONTEND=noninteractive
  if [[ ! -e /usr/sbin/policy-rc.d ]]; then
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
    printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
    chmod +x /usr/sbin/policy-rc.d
  fi
  "$@"
)

docker_engine() {
  engine_answers && return
  command -v dockerd >/dev/null || { say 'No Docker engine: there is no dockerd on this machine.'; return 0; }
  ((EUID == 0)) || { say 'No Docker engine answers, and only root can start one.'; return 0; }

  forget_if_gone /var/run/docker.pid dockerd
  forget_if_gone /var/run/docker/containerd/containerd.pid containerd
  local starts=0
  if [[ ! -e /var/run/docker.pid ]]; then start_dockerd; fi # else another one is on its way up

  for _ in $(seq 240); do
    engine_answers && { say "Docker engine $(docker version --format '{{.Server.Version}}') is up."; return; }
    if [[ $dockerd_pid ]] && ! kill -0 "$dockerd_pid" 2>/dev/null; then
      # It gives its containerd 15 s to come up, which is little on a machine that is busy.
      ((++starts < 3)) || break
      start_dockerd
    fi
    sleep 0.5
  done
  say "The Docker engine did not start: $(tail -n 1 "$dockerd_log" 2>/dev/null)"
  stop_docker_engine
}

start_dockerd() {
  setsid nohup dockerd </dev/null >"$dockerd_log" 2>&1 &
  dockerd_pid=$!
}

engine_answers() { timeout 10 docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

# A pid file outlives a killed engine, and its number may since belong to another program.
forget_if_gone() {
  local file=$1 name=$2 pid
  [[ -e $file ]] || return 0
  pid=$(<"$file")
  [[ $pid && $(cat "/proc/$pid/comm" 2>/dev/null) == "$name" ]] || rm -f "$file"
}

stop_docker_engine() {
  [[ $dockerd_pid ]] || return 0
  kill "$dockerd_pid" 2>/dev/null || true
  for _ in $(seq 60); do kill -0 "$dockerd_pid" 2>/dev/null || break; sleep 0.5; done
  kill -9 "$dockerd_pid" 2>/dev/null || true
  dockerd_pid=
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  case ${1:-} in
    '') system_packages ;;
    bench) system_packages "${bench_packages[@]}" ;;
    *) echo "usage: $0 [bench]" >&2; exit 2 ;;
  esac
  docker_engine
fi
