// The program of a stand-in image: it does as much of a published image as a compose file relies on. Its first argument is the name by
// which it was called: a program of the image, such as `celery`, or `stand-in` for the image's own server.
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

const [program, ...args] = process.argv.slice(2)
const { env } = process
const list = (name) => (env[name] ?? '').split(' ').filter(Boolean)

function fail(text) {
  console.error(text)
  process.exit(1)
}

/** `VARIABLE:PORT` or `=HOST:PORT`, with `!` for a service that must be ready when this one starts. */
function parseContact(text) {
  const [, once, literal, variable, port] = /^(!?)(=?)([^:]+):(\d+)$/.exec(text)
  const value = literal === '' ? (env[variable] ?? fail(`${variable} is not set`)) : variable
  const [, password = '', host, ownPort] = /^(?:[a-z]+:)*(?:\/\/)?(?:[^@/]*?:?([^:@/]*)@)?([\w.-]+)(?::(\d+))?/.exec(value) ?? []
  return { isOnce: once === '!', variable, host, port: Number(ownPort ?? port), isRedis: value.startsWith('redis:'), password }
}

/** Connects. Redis is sent a command too, because its password may be wrong. */
function reach({ host, port, isRedis, password }) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host, () => {
      if (isRedis) socket.write(`${password === '' ? '' : `AUTH ${password}\r\n`}PING\r\n`)
      else resolve()
    })
    let answer = ''
    socket.on('data', (data) => {
      answer += data
      if (answer.includes('PONG')) resolve()
      else if (answer.includes('-')) reject(new Error(answer))
    })
    socket.setTimeout(5_000, () => reject(new Error(`${host}:${port} does not answer`)))
    socket.on('error', reject)
  })
}

async function reachAll() {
  for (const contact of list('STAND_IN_CONTACTS').map(parseContact)) {
    for (let left = contact.isOnce ? 1 : 300; ; left--) {
      const error = await reach(contact).then(
        () => null,
        (reason) => reason,
      )
      if (!error) break
      if (left === 1) fail(`${contact.variable}: ${contact.host}:${contact.port} is not reached: ${error.message}`)
      await delay(200)
    }
    console.log(`${contact.variable}: ${contact.host}:${contact.port} is reached`)
  }
}

/** Appends a line to every writable volume. */
function writeVolumes() {
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
  for (const [source, path, , options = ''] of mounts) {
    if (!source?.startsWith('/dev/') || /^\/etc\/(hosts|hostname|resolv\.conf)$/.test(path) || /^\/(sbin|usr\/bin)\/docker-init$/.test(path)) continue
    if (options.split(',').includes('rw')) appendFileSync(`${path}/stand-in`, `${program} `)
  }
}

function readFiles() {
  for (const path of list('STAND_IN_FILES')) if (!existsSync(path) || readFileSync(path, 'utf8') === '') fail(`${path} is missing`)
  for (const path of args.flatMap((word) => /(?:^|=)(\/etc\/.+)$/.exec(word)?.[1] ?? [])) if (!existsSync(path)) fail(`${path} is missing`)
}

const get = async (url) => {
  const response = await fetch(/^https?:/.test(url) ? url : `http://${url}`).catch((error) => fail(String(error.cause ?? error)))
  return { ok: response.ok, text: await response.text() }
}
const listen = (ports, answer) => {
  for (const port of ports) createServer(answer).listen(port, '0.0.0.0', () => console.log(`listens on ${port}`))
}

/** A bucket is a folder of the volume. */
function answerStore(request, response) {
  const path = `/data/bucket${request.url.replaceAll('/', '-')}`
  if (request.method === 'PUT') mkdirSync(path, { recursive: true })
  response.statusCode = existsSync(path) ? 200 : 404
  response.end()
}

async function serve() {
  readFiles()
  writeVolumes()
  await reachAll()
  const isWorker = program === 'celery' || args[0] === 'worker' || args.includes('sidekiq') || env.STAND_IN_PORTS === undefined
  console.log(`${env.STAND_IN ?? 'app'} starts as ${[program, ...args].join(' ')}`)
  if (isWorker) return setInterval(() => {}, 60_000)
  listen(list('STAND_IN_PORTS').map(Number), (request, response) => {
    if (env.STAND_IN === 'minio' && request.url !== '/') return answerStore(request, response)
    response.end(`${env.STAND_IN ?? 'app'} ${env.STAND_IN_VERSION ?? ''}`)
  })
}

/** Forwards to the server in the configuration. */
async function serveNginx() {
  readFiles()
  writeVolumes()
  const config = readFileSync('/etc/nginx/conf.d/default.conf', 'utf8')
  const [, kind, host, port] = /(proxy|fastcgi)_pass (?:http:\/\/)?([\w-]+):(\d+)/.exec(config) ?? fail('the configuration names no server')
  listen([80], (request, response) => {
    const answer = kind === 'proxy' ? fetch(`http://${host}:${port}`).then((upstream) => upstream.text()) : reach({ host, port })
    answer.then(
      (text) => response.end(text ?? 'nginx'),
      (error) => response.writeHead(502).end(String(error)),
    )
  })
}

const programs = {
  async curl() {
    const { ok, text } = await get(args.find((word) => !word.startsWith('-')))
    process.stdout.write(text)
    if (!ok && args.some((word) => word === '--fail' || word === '-f')) process.exit(22)
  },
  async wget() {
    const { ok, text } = await get(args.at(-1))
    process.stdout.write(text)
    if (!ok) process.exit(8)
  },
  envsubst: () => process.stdout.write(readFileSync(0, 'utf8').replaceAll(/\$\{?(\w+)\}?/g, (_, name) => env[name] ?? '')),
  'rabbitmq-diagnostics': () =>
    reach({ host: '127.0.0.1', port: 5672 }).then(
      () => process.exit(0),
      (error) => fail(String(error)),
    ),
  async mc() {
    const [command] = args
    if (command === 'alias') return writeFileSync('/tmp/store', args[3])
    const url = `${readFileSync('/tmp/store', 'utf8')}/${args.at(-1).split('/')[1]}`
    for (;;) {
      const response = await fetch(url, { method: 'PUT' }).catch(() => undefined)
      if (response?.ok) return
      await delay(200)
    }
  },
  'cron.sh': () => setInterval(() => {}, 60_000),
  nginx: serveNginx,
  'apache2-foreground': serve,
}

/** Migrations and installations, which exit. */
const isTask = ['--install', '--upgrade', 'db', 'db:migrate'].includes(args[0])

if (args[0] === '-healthcheck') await get(`127.0.0.1:${list('STAND_IN_PORTS')[0]}`)
else if (isTask) {
  await reachAll()
  console.log(`${program} ${args.join(' ')} is done`)
  process.exit(0)
} else await (programs[program] ?? serve)()
