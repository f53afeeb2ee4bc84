import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { request } from 'node:http'
import { median, type Row } from './row.ts'

const run = promisify(execFile)
const here = import.meta.dirname

interface Peer {
  name: string
  port: number
  process: ChildProcess
}

interface Measure {
  name: string
  path: string
  connections: number
  unit: string
  load: (measure: Measure, peer: Peer, seconds: number) => Promise<{ rate: number; count: number }>
  /** Least ratios: bars that must hold. */
  bars: Record<string, number>
}

const measures: Measure[] = [
  { name: 'edge 1 kB', path: '/1k.json', connections: 64, unit: 'req/s', load: requests, bars: { caddy: 1.0 } },
  { name: 'edge 100 kB', path: '/100k.bin', connections: 64, unit: 'req/s', load: requests, bars: { caddy: 1.0 } },
  { name: 'edge 10 MB', path: '/10m.bin', connections: 8, unit: 'req/s', load: requests, bars: {} },
]

const streamMeasures: Measure[] = [
  { name: 'edge events', path: '/events', connections: 64, unit: 'lines/s', load: events, bars: {} },
  { name: 'edge WebSocket', path: '/', connections: 64, unit: 'messages/s', load: messages, bars: {} },
]

/**
 * The edge beside nginx, Caddy and HAProxy in front of the same upstream (nginx serving files): medians of interleaved
 * rounds. Only the ratios mean anything, least of all on a busy machine.
 */
export async function benchEdge(options: { rounds?: number; seconds?: number; only?: RegExp } = {}): Promise<Row[]> {
  const rounds = options.rounds ?? 5
  const seconds = options.seconds ?? 2
  const lacks = ['nginx', 'wrk'].filter((program) => !has(program))
  if (lacks.length > 0) {
    return [
      {
        name: 'edge',
        who: 'homeport',
        value: null,
        unit: 'req/s',
        ratios: {},
        note: `${lacks.join(' and ')} not installed: apt-get install nginx-light wrk caddy haproxy`,
      },
    ]
  }
  const folder = mkdtempSync(join(tmpdir(), 'homeport-bench-edge-'))
  const started: ChildProcess[] = []
  try {
    const upstream = await freePort()
    writeFileSync(join(folder, '1k.json'), JSON.stringify({ text: 'x'.repeat(1011) }))
    writeFileSync(join(folder, '100k.bin'), Buffer.alloc(100 * 1024, 'y'))
    writeFileSync(join(folder, '10m.bin'), Buffer.alloc(10 * 1024 * 1024, 'z'))
    started.push(
      await startNginx(folder, 'upstream', upstream, `root ${folder}; sendfile on; tcp_nopush on; keepalive_requests 100000000;`, '/1k.json'),
    )
    const rows: Row[] = []
    const app = await startNode('edge-upstream.ts')
    started.push(app.process)
    for (const [port, list] of [
      [upstream, measures],
      [app.port, streamMeasures],
    ] as const) {
      const peers: Peer[] = []
      for (const [name, start] of Object.entries(starters)) {
        if (!has(name) && name !== 'homeport') continue
        const peer = await start(folder, port)
        started.push(peer.process)
        peers.push(peer)
      }
      for (const measure of list.filter(({ name }) => options.only?.test(name) ?? true))
        rows.push(...(await compare(measure, peers, rounds, seconds)))
    }
    return rows
  } finally {
    for (const child of started.toReversed()) await stop(child)
    rmSync(folder, { recursive: true, force: true })
  }
}

const starters: Record<string, (folder: string, upstream: number) => Promise<Peer>> = {
  async homeport(_folder, upstream) {
    return { name: 'homeport', ...(await startNode('edge-server.ts', String(upstream))) }
  },
  async nginx(folder, upstream) {
    const port = await freePort()
    const proxy = `location / { proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection $hop; proxy_set_header Upgrade $http_upgrade; proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Request-Id $request_id; } keepalive_requests 100000000; proxy_buffer_size 16k; proxy_buffers 8 64k; proxy_busy_buffers_size 128k; proxy_max_temp_file_size 0;`
    return {
      name: 'nginx',
      port,
      process: await startNginx(
        folder,
        'proxy',
        port,
        proxy,
        '/1k.json',
        `map $http_upgrade $hop { default upgrade; '' ''; } upstream app { server 127.0.0.1:${upstream}; keepalive 128; keepalive_requests 100000000; }`,
      ),
    }
  },
  async caddy(folder, upstream) {
    const port = await freePort()
    const file = join(folder, 'caddy.json')
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
    const child = spawn('caddy', ['run', '--config', file], {
      stdio: 'ignore',
      env: { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder },
    })
    await answers(port)
    return { name: 'caddy', port, process: child }
  },
  async haproxy(folder, upstream) {
    const port = await freePort()
    const file = join(folder, 'haproxy.cfg')
    writeFileSync(
      file,
      `global\n  nbthread 1\ndefaults\n  mode http\n  timeout connect 5s\n  timeout client 60s\n  timeout server 60s\n  http-reuse always\nfrontend f\n  bind 127.0.0.1:${port}\n  option forwardfor\n  default_backend b\nbackend b\n  server s 127.0.0.1:${upstream}\n`,
    )
    const child = spawn('haproxy', ['-f', file, '-db'], { stdio: 'ignore' })
    await answers(port)
    return { name: 'haproxy', port, process: child }
  },
}

/** One of the programs beside this one, which prints its port. */
async function startNode(file: string, ...parameters: string[]): Promise<{ port: number; process: ChildProcess }> {
  const child = spawn(process.execPath, [join(here, file), ...parameters], { stdio: ['ignore', 'pipe', 'inherit'] })
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout?.once('data', (text: Buffer) => resolve(Number(text.toString())))
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)))
  })
  return { port, process: child }
}

async function compare(measure: Measure, peers: Peer[], rounds: number, seconds: number): Promise<Row[]> {
  const rates = new Map<string, number[]>()
  const costs = new Map<string, number[]>()
  for (const peer of peers) await measure.load(measure, peer, 1)
  for (let round = 0; round < rounds; round++) {
    for (const peer of peers) {
      const before = processorTime(peer.process.pid ?? 0)
      const { rate, count } = await measure.load(measure, peer, seconds)
      const used = processorTime(peer.process.pid ?? 0) - before
      rates.set(peer.name, [...(rates.get(peer.name) ?? []), rate])
      costs.set(peer.name, [...(costs.get(peer.name) ?? []), (used * 1e6) / count])
    }
  }
  const rateOf = (name: string): number => median(rates.get(name) ?? [])
  const costOf = (name: string): number => median(costs.get(name) ?? [])
  return peers.map((peer) => {
    const others = peers.filter((other) => other !== peer).map((other) => other.name)
    const ratios = Object.fromEntries(
      others.flatMap((other) => [
        [other, rateOf(peer.name) / rateOf(other)],
        [`${other} per cpu`, costOf(other) / costOf(peer.name)],
      ]),
    )
    const row: Row = { name: measure.name, who: peer.name, value: rateOf(peer.name), unit: measure.unit, ratios, cpu_us: costOf(peer.name) }
    if (peer.name === 'homeport') {
      const held = Object.entries(measure.bars).filter(([name]) => name in ratios)
      row.bar = held.map(([name, least]) => `at least ${least} x ${name}`).join(', ')
      row.ok = held.every(([name, least]) => (ratios[name] ?? 0) >= least)
    }
    return row
  })
}

async function wrk(measure: Measure, peer: Peer, seconds: number): Promise<string> {
  const { stdout } = await run('wrk', [
    '-t1',
    `-c${measure.connections}`,
    `-d${seconds}s`,
    '-H',
    'Host: app.localhost',
    `http://127.0.0.1:${peer.port}${measure.path}`,
  ])
  return stdout
}

async function requests(measure: Measure, peer: Peer, seconds: number): Promise<{ rate: number; count: number }> {
  const text = await wrk(measure, peer, seconds)
  const failed = /Socket errors:.*|Non-2xx.*/.exec(text)
  if (failed) console.error(`${peer.name} ${measure.name}: ${failed[0]}`)
  return { rate: Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]), count: Number(/(\d+) requests in/.exec(text)?.[1]) }
}

/** Lines by their bytes: 100 and the framing of a chunk. Whoever joins chunks has a little less of that; it is under 6 %. */
async function events(measure: Measure, peer: Peer, seconds: number): Promise<{ rate: number; count: number }> {
  const [, amount, unit] = /Transfer\/sec:\s+([\d.]+)([KMG]?)B/.exec(await wrk(measure, peer, seconds)) ?? []
  const rate = (Number(amount) * { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 }[unit as '' | 'K' | 'M' | 'G']) / 106
  return { rate, count: rate * seconds }
}

async function messages(measure: Measure, peer: Peer, seconds: number): Promise<{ rate: number; count: number }> {
  const { stdout } = await run(process.execPath, [join(here, 'edge-sockets.ts'), String(peer.port), String(measure.connections), String(seconds)])
  return { rate: Number(stdout), count: Number(stdout) * seconds }
}

/** Seconds that a process and its children have computed. */
export function processorTime(pid: number): number {
  let sum = 0
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'latin1')
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
      // Fields 4, 14 and 15 of proc(5): parent, user and system time in hundredths of a second.
      if (Number(name) === pid || Number(fields[1]) === pid) sum += (Number(fields[11]) + Number(fields[12])) / 100
    } catch {
      // It ended as we looked.
    }
  }
  return sum
}

async function startNginx(folder: string, name: string, port: number, body: string, probe: string, outer = ''): Promise<ChildProcess> {
  const file = join(folder, `${name}.conf`)
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  writeFileSync(
    file,
    `${user} daemon off; worker_processes 1; pid ${folder}/${name}.pid; error_log ${folder}/${name}.log; events { worker_connections 4096; }
http { access_log off; client_body_temp_path ${folder}/${name}-a; proxy_temp_path ${folder}/${name}-b; fastcgi_temp_path ${folder}/${name}-c; uwsgi_temp_path ${folder}/${name}-d; scgi_temp_path ${folder}/${name}-e; ${outer} server { listen 127.0.0.1:${port}; ${body} } }`,
  )
  const child = spawn('nginx', ['-p', folder, '-c', file], { stdio: 'ignore' })
  await answers(port, probe)
  return child
}

async function answers(port: number, path = '/1k.json'): Promise<void> {
  for (const until = Date.now() + 10_000; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
    const status = await new Promise<number>((resolve) => {
      const asked = request({ host: '127.0.0.1', port, path, headers: { host: 'app.localhost' } }, (answer) => {
        resolve(answer.statusCode ?? 0)
        answer.destroy()
      })
      asked.on('error', () => resolve(0))
      asked.end()
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

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await gone
}

function has(program: string): boolean {
  try {
    execFileSync('which', [program], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

// `node test/bench/edge.ts [ROUNDS] [SECONDS] [WHICH]`
if (import.meta.main) {
  const rows = await benchEdge({
    rounds: Number(process.argv[2] ?? 5),
    seconds: Number(process.argv[3] ?? 2),
    only: new RegExp(process.argv[4] ?? ''),
  })
  for (const row of rows) {
    const ratios = Object.entries(row.ratios).map(([name, ratio]) => `${ratio.toFixed(2)} x ${name}`)
    console.log(
      [row.name, row.who, `${Math.round(row.value ?? 0)} ${row.unit}`, `${row.cpu_us?.toFixed(1)} us`, ...ratios, row.note ?? ''].join('  '),
    )
  }
}
