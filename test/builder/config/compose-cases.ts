/**
 * Compose files in `compose/`, written for these tests after the services and the notation of well-known projects. `files` are the other files of the
 * source; `expected` lists main, then each service with its kind, `*` for its own address, and its port. `problems` are the rejected lines.
 */
export interface ComposeCase {
  name: string
  files?: string[]
  expected: string
}

export interface RejectedComposeCase {
  name: string
  problems: string[]
}

export const composeCases: ComposeCase[] = [
  { name: 'directus', expected: 'directus > database:image cache:image directus:web*:8055' },
  { name: 'django', files: ['docker/Dockerfile', 'default.env'], expected: 'web > web:web*:8000 worker:worker beat:worker db:image redis:image' },
  { name: 'documents', files: ['redis.conf'], expected: 'wiki > wiki:web*:3000 redis:image:6379 postgres:image' },
  { name: 'elastic', files: ['logstash/logstash.conf'], expected: 'kibana > elasticsearch:image:9200 logstash:image:5000 kibana:web*:5601' },
  { name: 'fastapi', files: ['api/Dockerfile', 'Caddyfile'], expected: 'caddy > caddy:web*:80 api:worker:8000' },
  { name: 'flask', files: ['flask/Dockerfile', 'nginx/nginx.conf'], expected: 'web > web:web*:80 backend:worker mongo:image' },
  { name: 'ghost', expected: 'ghost > ghost:web*:2368 db:image' },
  { name: 'gitea', expected: 'server > server:web*:3000 db:image' },
  { name: 'go', files: ['Dockerfile'], expected: 'backend > backend:web*:8080 redis:image' },
  {
    name: 'grafana',
    files: ['prometheus/prometheus.yml', 'grafana/source.yml', 'secrets/grafana.txt'],
    expected: 'grafana > prometheus:image:9090 grafana:web*:3000',
  },
  { name: 'keycloak', files: ['realms/shop.json'], expected: 'keycloak > keycloak:web*:8080 postgres:image' },
  {
    name: 'laravel',
    files: ['php.dockerfile', 'nginx/default.conf', 'public/index.php'],
    expected: 'nginx > nginx:web*:80 php:worker:9000 mysql:image mailhog:image:8025',
  },
  { name: 'listmonk', expected: 'app > app:web*:9000 db:image' },
  { name: 'metabase', expected: 'metabase > metabase:web*:3000 postgres:image' },
  { name: 'miniflux', expected: 'miniflux > miniflux:web*:8080 db:image' },
  { name: 'minio', expected: 'app > app:web*:8081 minio:image:9000 buckets:image' },
  { name: 'monorepo', files: ['Dockerfile'], expected: 'web > web:web*:3000 admin:web*:3000' },
  { name: 'n8n', files: ['init-data.sh', '.env'], expected: 'n8n > postgres:image redis:image n8n:web*:5678 n8n-runner:image n8n-worker:image' },
  { name: 'nextcloud', files: ['web/Dockerfile', 'db.env'], expected: 'web > db:image redis:image app:image web:web*:80 cron:image' },
  { name: 'paperless', expected: 'webserver > broker:image webserver:web*:8000 gotenberg:image tika:image' },
  { name: 'php', files: ['app/Dockerfile'], expected: 'web > web:web*:80' },
  {
    name: 'plausible',
    files: ['clickhouse/logs.xml', 'clickhouse/ipv4-only.xml'],
    expected: 'plausible > plausible_db:image plausible_events_db:image plausible:web*:8000',
  },
  { name: 'rabbitmq', files: ['Dockerfile.api', 'Dockerfile.worker'], expected: 'api > api:web*:5000 consumer:worker rabbitmq:web*:15672' },
  { name: 'rails', files: ['Dockerfile'], expected: 'app > app:web*:3000 sidekiq:worker migrate:worker db:image redis:image' },
  {
    name: 'react',
    files: ['frontend/Dockerfile', 'backend/Dockerfile'],
    expected: 'frontend > frontend:web*:3000 backend:worker:3000 mongo:image:27017',
  },
  { name: 'redis-password', files: ['Dockerfile'], expected: 'app > app:web*:8000 redis:image' },
  { name: 'spring', files: ['backend/Dockerfile', 'db/password.txt'], expected: 'backend > backend:web*:8080 db:image:5432' },
  {
    name: 'strapi',
    files: ['Dockerfile', 'package.json', 'config/server.ts', 'src/index.ts'],
    expected: 'strapi > strapi:web*:1337 strapi-db:image',
  },
  { name: 'umami', expected: 'umami > umami:web*:3000 db:image' },
  { name: 'vikunja', expected: 'vikunja > vikunja:web*:3456 db:image' },
  {
    name: 'voting',
    files: ['vote/Dockerfile', 'result/Dockerfile', 'worker/Dockerfile', 'healthchecks/redis.sh', 'healthchecks/postgres.sh'],
    expected: 'vote > vote:web*:80 result:web*:80 worker:worker redis:image db:image',
  },
  { name: 'wordpress', expected: 'blog > database:image:3306 blog:web*:80' },
]

export const rejectedComposeCases: RejectedComposeCase[] = [
  {
    name: 'home-assistant',
    problems: [
      '7: services.homeassistant.volumes: “/run/dbus” is a ',
      '8: services.homeassistant.devices opens devices of t',
      '11: services.homeassistant.privileged gives the cont',
      '12: services.homeassistant.network_mode: “host” puts',
    ],
  },
  {
    name: 'monitoring',
    problems: [
      '4: services.node-exporter.pid shows the container th',
      '6: services.node-exporter.volumes: “/proc” is a path',
      '7: services.node-exporter.volumes: “/” is a path of ',
      '11: services.agent.security_opt: “apparmor:unconfine',
      '12: services.agent.userns_mode shares the users of t',
    ],
  },
  { name: 'ollama', problems: ['8: services.ollama.deploy.resources.reservations.dev', '12: services.ollama.extra_hosts gives a name to anot'] },
  {
    name: 'pihole',
    problems: [
      '5: services.pihole.dns replaces the name server, by ',
      '8: services.pihole.volumes: “/etc/dnsmasq.d/” is a p',
      '9: services.pihole.cap_add gives the container right',
    ],
  },
  { name: 'portainer', problems: ['8: services.portainer.volumes: “/var/run/docker.sock'] },
  { name: 'storage', problems: ['9: volumes.media.driver_opts names a path or a devic'] },
  { name: 'traefik', problems: ['7: services.traefik.volumes: “/var/run/docker.sock” ', '12: networks.proxy is external: it connects the serv'] },
  {
    name: 'wireguard',
    problems: [
      '4: services.wireguard.cap_add gives the container ri',
      '6: services.wireguard.volumes: “/lib/modules” is a p',
      '8: services.wireguard.sysctls changes settings of th',
    ],
  },
]
