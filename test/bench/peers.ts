import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'

/** A server whose port serves the responses of an app. */
export interface Peer {
  name: string
  port: number
  process: ChildProcess
}

/** `caching`: stores what the app allows. null: a peer that cannot, or whose configuration this machine refuses. */
export interface PeerOptions {
  folder: string
  upstream: number
  caching: boolean
  /** A path that answers 200, to detect when it is ready. */
  probe?: string
  /** With its default heuristic freshness. */
  is_stock?: boolean
  /** The size of the cache in megabytes. */
  memory_mb?: number
}

export const peerNames = ['nginx', 'caddy', 'haproxy', 'varnish'] as const
export type PeerName = (typeof peerNames)[number]
const commands: Record<PeerName, string> = { nginx: 'nginx', caddy: 'caddy', haproxy: 'haproxy', varnish: 'varnishd' }

/** Starts each peer that is installed; the others, and those without a cache where one is required, are reported with the reason. */
export async function startPeers(
  names: readonly PeerName[],
  options: PeerOptions,
): Promise<{ peers: Peer[]; missing: { name: string; why: string }[] }> {
  const peers: Peer[] = []
  const missing: { name: string; why: string }[] = []
  for (const name of names) {
    if (!isInstalled(commands[name])) missing.push({ name, why: 'not installed' })
    else if (options.caching && name === 'caddy') missing.push({ name, why: 'has no cache' })
    else {
      const port = await freePort()
      const child = starters[name](port, options)
      try {
        await waitForOk(port, options.probe)
        peers.push({ name, port, process: child })
      } catch (error) {
        await stop(child)
        missing.push({ name, why: error instanceof Error ? error.message : String(error) })
      }
    }
  }
  return { peers, missing }
}

const starters: Record<PeerName, (port: number, options: PeerOptions) => ChildProcess> = {
  nginx(port, { folder, upstream, caching, memory_mb = 1024 }) {
    const files = join(folder, `nginx-cache-${port}`)
    const cache = caching ? `proxy_cache stored; proxy_cache_lock on; proxy_cache_revalidate on; sendfile on; open_file_cache max=200000;` : ''
    const zone = caching ? `proxy_cache_path ${files} levels=1:2 keys_zone=stored:64m max_size=${memory_mb}m inactive=600m;` : ''
    const proxy = `location / { ${cache} proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection $hop; proxy_set_header Upgrade $http_upgrade; proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Request-Id $request_id; } keepalive_requests 100000000; proxy_buffer_size 16k; proxy_buffers 8 64k; proxy_busy_buffers_size 128k; ${caching ? '' : 'proxy_max_temp_file_size 0;'}`
    const outer = `${zone} map $http_upgrade $hop { default upgrade; '' ''; } upstream app { server 127.0.0.1:${upstream}; keepalive 128; keepalive_requests 100000000; }`
    return nginx(folder, `proxy-${port}`, port, proxy, outer)
  },

  caddy(port, { folder, upstream }) {
    const file = join(folder, `caddy-${port}.json`)
    const handle = [
      {
        handler: 'reverse_proxy',
        upstreams: [{ dial: `127.0.0.1:${upstream}` }],
        transport: { protocol: 'http', keep_alive: { max_idle_conns_per_host: 128 } },
      },
    ]
    writeFileSync(
      file,
      JSON.stringify({
        admin: { disabled: true },
        logging: { logs: { default: { level: 'ERROR' } } },
        apps: { http: { servers: { edge: { listen: [`127.0.0.1:${port}`], automatic_https: { disable: true }, routes: [{ handle }] } } } },
      }),
    )
    return spawn('caddy', ['run', '--config', file], {
      stdio: 'ignore',
      env: { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder },
    })
  },

  haproxy(port, { folder, upstream, caching, memory_mb = 1024 }) {
    const file = join(folder, `haproxy-${port}.cfg`)
    const store = caching ? `cache stored\n  total-max-size ${memory_mb}\n  max-object-size 1000000\n  max-age 600\n` : ''
    const use = caching ? '  http-request cache-use stored\n  http-response cache-store stored\n' : ''
    writeFileSync(
      file,
      `global\n  nbthread 1\n${store}defaults\n  mode http\n  timeout connect 5s\n  timeout client 60s\n  timeout server 60s\n  http-reuse always\nfrontend f\n  bind 127.0.0.1:${port}\n  option forwardfor\n${use}  default_backend b\nbackend b\n  server s 127.0.0.1:${upstream}\n`,
    )
    return spawn('haproxy', ['-f', file, '-db'], { stdio: 'ignore' })
  },

  /** With xkey if Debian's varnish-modules are installed: `PURGE /` with the header `Key` returns `X-Gone`. */
  varnish(port, { folder, upstream, caching, is_stock = false, memory_mb = 1024 }) {
    const file = join(folder, `varnish-${port}.vcl`)
    const recv = caching ? (hasXkey() ? xkeyRecv : '') : 'return (pass);'
    writeFileSync(
      file,
      `vcl 4.1;
${caching && hasXkey() ? 'import xkey;' : ''}
backend default { .host = "127.0.0.1"; .port = "${upstream}"; }
sub vcl_recv { ${recv} }
${caching ? 'sub vcl_backend_response { if (beresp.http.Surrogate-Key) { set beresp.http.xkey = beresp.http.Surrogate-Key; unset beresp.http.Surrogate-Key; } } sub vcl_deliver { unset resp.http.xkey; }' : ''}
`,
    )
    const folderOfIt = join(folder, `varnish-${port}`)
    mkdirSync(folderOfIt, { recursive: true })
    // Its worker runs as another user, who needs access.
    chmodSync(folder, 0o755)
    const parameters = is_stock ? [] : ['default_ttl=0', 'default_grace=0', 'thread_pools=1']
    return spawn(
      'varnishd',
      ['-F', '-a', `127.0.0.1:${port}`, '-f', file, '-n', folderOfIt, '-s', `malloc,${memory_mb}m`, ...parameters.flatMap((one) => ['-p', one])],
      { stdio: 'ignore' },
    )
  },
}

const xkeyRecv = 'if (req.method == "PURGE") { set req.http.x-gone = xkey.purge(req.http.key); return (synth(200, req.http.x-gone)); }'

export function hasXkey(): boolean {
  try {
    return execFileSync('dpkg-query', ['-W', '-f', '${db:Status-Abbrev}', 'varnish-modules'], { encoding: 'utf8', stdio: 'pipe' }).startsWith('ii')
  } catch {
    return false
  }
}

/** An app that is never the bottleneck: nginx with files of 1 kB, 100 kB and 10 MB. `cache_control` is their header. With several ports it is several targets. */
export async function startFileServer(
  folder: string,
  cache_control: string,
  count = 1,
): Promise<{ port: number; ports: number[]; process: ChildProcess }> {
  const ports = await Promise.all(Array.from({ length: count }, freePort))
  const [port = 0, ...others] = ports
  writeFileSync(join(folder, '1k.json'), JSON.stringify({ text: 'x'.repeat(1011) }))
  writeFileSync(join(folder, '100k.bin'), Buffer.alloc(100 * 1024, 'y'))
  writeFileSync(join(folder, '10m.bin'), Buffer.alloc(10 * 1024 * 1024, 'z'))
  const listen = others.map((other) => `listen 127.0.0.1:${other};`).join(' ')
  const server = `${listen} root ${folder}; sendfile on; tcp_nopush on; keepalive_requests 100000000; add_header Cache-Control "${cache_control}";`
  const child = nginx(folder, `files-${port}`, port, server, '')
  await waitForOk(port, '/1k.json')
  return { port, ports, process: child }
}

function nginx(folder: string, name: string, port: number, server: string, outer: string): ChildProcess {
  const file = join(folder, `${name}.conf`)
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  writeFileSync(
    file,
    `${user} daemon off; worker_processes 1; pid ${folder}/${name}.pid; error_log ${folder}/${name}.log; events { worker_connections 4096; }
http { access_log off; client_body_temp_path ${folder}/${name}-a; proxy_temp_path ${folder}/${name}-b; fastcgi_temp_path ${folder}/${name}-c; uwsgi_temp_path ${folder}/${name}-d; scgi_temp_path ${folder}/${name}-e; ${outer} server { listen 127.0.0.1:${port}; ${server} } }`,
  )
  return spawn('nginx', ['-p', folder, '-c', file], { stdio: 'ignore' })
}

/** One of the programs in this folder, on Node with the platform's flags (nodeFlags in server/cli/prepare.mjs); it prints its port or ports. */
export async function startNodeProgram(file: string, ...parameters: string[]): Promise<{ port: number; ports: number[]; process: ChildProcess }> {
  const child = spawn(process.execPath, ['--max-semi-space-size=4', '--heap-growing-percent=25', join(import.meta.dirname, file), ...parameters], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ports = await new Promise<number[]>((resolve, reject) => {
    child.stdout?.once('data', (text: Buffer) => resolve(text.toString().trim().split(' ').map(Number)))
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)))
  })
  return { port: ports[0] ?? 0, ports, process: child }
}

/** Waits for a 200. */
export async function waitForOk(port: number, path = '/1k.json'): Promise<void> {
  for (const until = Date.now() + 10_000; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
    const status = await new Promise<number>((resolve) => {
      const clientRequest = request({ host: '127.0.0.1', port, path, headers: { host: 'app.localhost' } }, (response) => {
        resolve(response.statusCode ?? 0)
        response.destroy()
      })
      clientRequest.on('error', () => resolve(0))
      clientRequest.end()
    })
    if (status === 200) return
    if (Date.now() > until) throw new Error(`nothing answers 200 on port ${port}, last status ${status}`)
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await gone
}

export function isInstalled(program: string): boolean {
  try {
    execFileSync('which', [program], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
