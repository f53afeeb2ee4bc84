import type { StandIn } from './stand-in-images.ts'

/** The other files of a compose file's source, and the behavior of its images. */
export interface ComposeProject {
  files?: Record<string, string>
  /** Dockerfiles, by path. */
  builds?: Record<string, StandIn>
  /** Images that are not a database of a known kind. */
  images?: Record<string, StandIn>
  /** Variables of the project. */
  variables?: Record<string, string>
}

const web = (...ports: number[]): StandIn => ({ ports })
const proxyTo = (address: string) => `server {\n  listen 80;\n  location / {\n    ${address};\n  }\n}\n`
const variables = (values: Record<string, string>) =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')

/** By the name of the file in `test/builder/config/compose`. */
export const composeProjects: Record<string, ComposeProject> = {
  directus: { images: { 'directus/directus:11': { ports: [8055], contacts: ['!DB_HOST:5432', '!REDIS:6379'], user: 'node' } } },
  django: {
    files: { 'default.env': variables({ POSTGRES_PASSWORD: 'django', DB_HOST: 'db', REDIS_URL: 'redis://redis:6379' }) },
    builds: { 'docker/Dockerfile': { ports: [8000], contacts: ['DB_HOST:5432', 'REDIS_URL:6379'], user: 'node' } },
  },
  documents: {
    files: {
      'redis.conf': 'maxmemory 64mb\n',
      'docker.env': variables({
        POSTGRES_USER: 'user',
        POSTGRES_PASSWORD: 'pass',
        POSTGRES_DB: 'outline',
        DATABASE_URL: 'postgres://user:pass@postgres:5432/outline',
        REDIS_URL: 'redis://redis:6379',
      }),
    },
    images: { 'outlinewiki/outline:0.80': { ports: [3000], contacts: ['DATABASE_URL:5432', 'REDIS_URL:6379'], user: 'node' } },
  },
  elastic: {
    files: { 'logstash/logstash.conf': 'input { tcp { port => 5000 } }\n' },
    images: {
      'elasticsearch:7.16.1': web(9200, 9300),
      'logstash:7.16.1': web(5000, 5044, 9600),
      'kibana:7.16.1': { ports: [5601], contacts: ['=elasticsearch:9200'] },
    },
  },
  fastapi: {
    files: { Caddyfile: ':80\nreverse_proxy api:8000\n' },
    builds: { 'api/Dockerfile': web(8000) },
    images: { 'caddy:2': { ports: [80, 443], contacts: ['=api:8000'], files: ['/etc/caddy/Caddyfile'] } },
  },
  flask: {
    files: { 'nginx/nginx.conf': proxyTo('proxy_pass http://$FLASK_SERVER_ADDR') },
    builds: { 'flask/Dockerfile': { stage: 'builder', ports: [9091], contacts: ['=mongo:27017'] } },
    images: { nginx: { ports: [80], run: 'nginx' } },
  },
  ghost: { images: { 'ghost:5-alpine': { ports: [2368], contacts: ['database__connection__host:3306'], user: 'node' } } },
  gitea: { images: { 'gitea/gitea:1.24': { ports: [3000, 22], contacts: ['GITEA__database__HOST:5432'] } } },
  go: { builds: { Dockerfile: { ports: [8080], contacts: ['=cache:6379'] } } },
  grafana: {
    files: { 'prometheus/prometheus.yml': 'global: {}\n', 'grafana/source.yml': 'apiVersion: 1\n', 'secrets/grafana.txt': 'a password\n' },
    images: {
      'prom/prometheus': { ports: [9090], files: ['/etc/prometheus/prometheus.yml'] },
      'grafana/grafana': { ports: [3000], files: ['/run/secrets/grafana_password', '/etc/grafana/provisioning/datasources/source.yml'] },
    },
  },
  keycloak: {
    files: { 'realms/shop.json': '{ "realm": "shop" }\n' },
    images: {
      'registry.example/keycloak/keycloak:26.0': {
        ports: [8080],
        contacts: ['KC_DB_URL:5432'],
        files: ['/opt/keycloak/data/import/shop.json'],
        user: 'node',
      },
    },
    variables: { KC_DB_PASSWORD: 'a password' },
  },
  laravel: {
    files: { 'nginx/default.conf': proxyTo('fastcgi_pass php:9000'), 'public/index.php': '<?php\n' },
    builds: { 'php.dockerfile': { ports: [9000], contacts: ['=mysql:3306'] } },
    images: {
      'nginx:stable-alpine': { ports: [80], run: 'nginx', files: ['/var/www/html/public/index.php'] },
      'mailhog/mailhog': web(1025, 8025),
    },
  },
  listmonk: {
    images: {
      'listmonk/listmonk:latest': { ports: [9000], contacts: ['LISTMONK_db__host:5432'], folder: '/listmonk', programs: ['/listmonk/listmonk'] },
    },
  },
  metabase: { images: { 'metabase/metabase:latest': { ports: [3000], contacts: ['MB_DB_HOST:5432'] } } },
  miniflux: {
    images: { 'miniflux/miniflux:latest': { ports: [8080], contacts: ['!DATABASE_URL:5432'], programs: ['/usr/bin/miniflux'], user: 'node' } },
  },
  minio: {
    images: {
      'registry.example/notes:2.1': { ports: [8081], contacts: ['!S3_ENDPOINT:9000'] },
      'minio/minio': web(9000, 9001),
      'minio/mc': {},
    },
  },
  monorepo: { builds: { Dockerfile: { stage: 'runner', ports: [3000] } } },
  n8n: {
    files: {
      '.env': variables({
        N8N_VERSION: '2.1',
        POSTGRES_USER: 'changeUser',
        POSTGRES_PASSWORD: 'changePassword',
        POSTGRES_DB: 'n8n',
        POSTGRES_NON_ROOT_USER: 'changeUser2',
        POSTGRES_NON_ROOT_PASSWORD: 'changePassword2',
        ENCRYPTION_KEY: 'changeEncryptionKey',
        RUNNERS_AUTH_TOKEN: 'changeToken',
      }),
      'init-data.sh': `#!/bin/bash\nset -e\npsql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" -c "CREATE USER \\"$POSTGRES_NON_ROOT_USER\\" WITH PASSWORD '$POSTGRES_NON_ROOT_PASSWORD'"\n`,
    },
    images: {
      'registry.example/n8nio/n8n:2.1': {
        ports: [5678, 5679],
        contacts: ['!DB_POSTGRESDB_HOST:5432', '!QUEUE_BULL_REDIS_HOST:6379'],
        user: 'node',
      },
      'n8nio/runners:2.1': { contacts: ['N8N_RUNNERS_TASK_BROKER_URI:5679'], user: 'node' },
    },
  },
  nextcloud: {
    files: { 'db.env': variables({ POSTGRES_PASSWORD: 'nextcloud', POSTGRES_DB: 'nextcloud', POSTGRES_USER: 'nextcloud' }) },
    builds: { 'web/Dockerfile': { ports: [80], contacts: ['=app:9000'] } },
    images: { 'nextcloud:fpm-alpine': { ports: [9000], contacts: ['POSTGRES_HOST:5432', 'REDIS_HOST:6379'], programs: ['/cron.sh'] } },
  },
  paperless: {
    files: { 'docker-compose.env': variables({ PAPERLESS_OCR_LANGUAGE: 'eng' }) },
    images: {
      'registry.example/paperless-ngx/paperless-ngx:latest': {
        ports: [8000],
        contacts: ['PAPERLESS_REDIS:6379', 'PAPERLESS_TIKA_GOTENBERG_ENDPOINT:3000', 'PAPERLESS_TIKA_ENDPOINT:9998'],
      },
      'docker.io/gotenberg/gotenberg:8': web(3000),
      'docker.io/apache/tika:latest': web(9998),
    },
  },
  php: { builds: { 'app/Dockerfile': { stage: 'builder', ports: [80], run: 'apache2-foreground' } } },
  plausible: {
    files: { 'clickhouse/logs.xml': '<clickhouse/>\n', 'clickhouse/ipv4-only.xml': '<clickhouse/>\n' },
    images: {
      'registry.example/plausible/community-edition:v3': {
        ports: [8000],
        contacts: ['!=plausible_db:5432', '!=plausible_events_db:8123'],
        programs: ['/entrypoint.sh'],
      },
      'clickhouse/clickhouse-server:24-alpine': { ports: [8123, 9000], files: ['/etc/clickhouse-server/config.d/logs.xml'] },
    },
    variables: { BASE_URL: 'http://plausible.localhost', SECRET_KEY_BASE: 'a long secret' },
  },
  rabbitmq: {
    builds: {
      'Dockerfile.api': { ports: [5000], contacts: ['!=rabbitmq:5672'] },
      'Dockerfile.worker': { contacts: ['!=rabbitmq:5672'] },
    },
    images: { 'rabbitmq:3-management': web(5672, 15672) },
  },
  rails: {
    builds: { Dockerfile: { ports: [3000], contacts: ['DATABASE_URL:5432'], folder: '/app', programs: ['/app/bin/rails'] } },
    variables: { RAILS_MASTER_KEY: 'a key' },
  },
  react: {
    builds: {
      'frontend/Dockerfile': { stage: 'development', ports: [3000] },
      'backend/Dockerfile': { stage: 'development', ports: [3000], contacts: ['=mongo:27017'] },
    },
  },
  'redis-password': { builds: { Dockerfile: { ports: [8000], contacts: ['REDIS_URL:6379'] } }, variables: { REDIS_PASSWORD: 'a-password' } },
  spring: {
    files: { 'db/password.txt': 'a-password\n' },
    builds: { 'backend/Dockerfile': { ports: [8080], contacts: ['=db:5432'], files: ['/run/secrets/db-password'] } },
  },
  strapi: {
    files: {
      '.env': variables({
        DATABASE_CLIENT: 'postgres',
        DATABASE_PORT: '5432',
        DATABASE_NAME: 'strapi',
        DATABASE_USERNAME: 'strapi',
        DATABASE_PASSWORD: 'strapi',
        NODE_ENV: 'production',
      }),
      'package.json': '{ "name": "shop", "private": true }\n',
      'config/server.ts': 'export default {}\n',
      'src/index.ts': 'export default {}\n',
    },
    builds: { Dockerfile: { ports: [1337], contacts: ['DATABASE_HOST:5432'] } },
  },
  umami: {
    images: { 'registry.example/umami/umami:latest': { ports: [3000], contacts: ['!DATABASE_URL:5432'], user: 'node' } },
    variables: { APP_SECRET: 'a long secret' },
  },
  vikunja: { images: { 'vikunja/vikunja': { ports: [3456], contacts: ['!VIKUNJA_DATABASE_HOST:3306'], user: 'node' } } },
  voting: {
    files: {
      'healthchecks/redis.sh': '#!/bin/sh\nset -e\n[ "$(redis-cli ping)" = PONG ]\n',
      'healthchecks/postgres.sh':
        '#!/bin/bash\nset -eo pipefail\n[ "$(echo "SELECT 1" | psql --username "$POSTGRES_USER" --quiet --no-align --tuples-only)" = 1 ]\n',
    },
    builds: {
      'vote/Dockerfile': { stage: 'dev', ports: [80], contacts: ['!=redis:6379'] },
      'result/Dockerfile': { ports: [80], contacts: ['!=db:5432'] },
      'worker/Dockerfile': { contacts: ['!=redis:6379', '!=db:5432'] },
    },
  },
  wordpress: { images: { 'wordpress:6-apache': { ports: [80], contacts: ['WORDPRESS_DB_HOST:3306'], run: 'apache2-foreground' } } },
}
